// Product of two matrices of 32 x 32 elements, LANES results side by side; each sum is added up in order.
#include "types.h"
#define N 32
__kernel void matmul(__global const T *restrict a, __global const WORD *restrict b, __global WORD *restrict c)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N / LANES; j++) {
            WORD sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * (N / LANES) + j];
            c[i * (N / LANES) + j] = sum;
        }
}
