// Product of two matrices of 32 x 32 elements, each sum added up in order.
#pragma OPENCL FP_CONTRACT OFF
#ifndef T
#define T int
#endif
#define N 32
__kernel void matmul(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            T sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            c[i * N + j] = sum;
        }
}
