__kernel void g(__global int *a) { a[0] = 1; }
__kernel void f(__global int *a) { g(a); }
