__kernel void f(__global float *a) { a[0] = sqrt(a[1]) + native_sin(a[2]); }
