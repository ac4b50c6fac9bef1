__kernel void f(__global float *a) { a[0] = fma(a[1], a[2], a[3]); }
