__kernel void f(__global double *a) { a[0] = 1; }
