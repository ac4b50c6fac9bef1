int g(int x) { return x; }
int g(int x) { return x + 1; }
__kernel void f(__global int *a) { a[0] = g(1); }
