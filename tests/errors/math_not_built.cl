__kernel void f(__global float *a) { a[0] = tgamma(a[1]); }
