__kernel void f(__global const half *a, __global float *b) { b[0] = 1; }
