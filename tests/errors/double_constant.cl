__kernel void f(__global float *a) { a[0] = a[1] * 0.1 + 1e3; }
