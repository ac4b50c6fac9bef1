__kernel void of_buffers(__global int *__global *b, __global int *c) { b[0] = c; }
__kernel void itself(int *__global b) { b[0] = 1; }
