// Sum of two vectors of 1,024 elements.
#ifndef T
#define T int
#endif
__kernel void vecadd(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    for (int i = 0; i < 1024; i++)
        c[i] = a[i] + b[i];
}
