int helper(int x);
__kernel void f(__global int *a) { a[0] = helper(1); }
