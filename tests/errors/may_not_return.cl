int g(int x) { if (x) return 1; }
__kernel void f(__global int *a) { a[0] = g(1); }
