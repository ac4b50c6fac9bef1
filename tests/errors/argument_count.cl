int add(int a, int b) { return a + b; }
__kernel void f(__global int *a) { a[0] = add(1) + min(1, 2, 3); }
