__kernel void g(__global int *a);
__kernel void f(__global int *a) { g(a); }
__kernel void g(__global int *a) { a[0] = 1; f(a); }
