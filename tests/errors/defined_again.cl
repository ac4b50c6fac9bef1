// a variable of the program is defined again where one has a value, and all are alike
__global int count;
__global int count = 3;
__global int count;
__global int count = 4;
__global float sums[4];
__global float sums[8];
static __global int kind;
volatile static __global int kind;
__global const volatile int seen;
__global volatile int seen = 1;
__kernel void k(__global int *a) { a[0] = count++; }
