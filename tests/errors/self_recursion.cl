int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
__kernel void f(__global int *a) { a[0] = fact(5); }
