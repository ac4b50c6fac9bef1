// Inner product of two vectors of 1,024 elements, added up in order.
#pragma OPENCL FP_CONTRACT OFF
#ifndef T
#define T int
#endif
__kernel void dot_product(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    T sum = 0;
    for (int i = 0; i < 1024; i++)
        sum += a[i] * b[i];
    *c = sum;
}
