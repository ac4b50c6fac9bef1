int g(int x);
int g(float x) { return x; }
__kernel void f(__global int *a) { a[0] = g(1); }
