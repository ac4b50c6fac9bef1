// 32-tap filter over 1,024 samples, a sample a cycle: all taps side by side. The coefficients come from memory.
#include "types.h"
#define TAPS 32
__kernel void fir(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    T past[TAPS], weight[TAPS];
    #pragma unroll
    for (int t = 0; t < TAPS; t++)
        past[t] = 0;
    for (int t = 0; t < TAPS; t++) {
        #pragma unroll
        for (int u = 0; u < TAPS - 1; u++)
            weight[u] = weight[u + 1];
        weight[TAPS - 1] = b[t];
    }
    for (int i = 0; i < 1024; i++) {
        #pragma unroll
        for (int t = TAPS - 1; t > 0; t--)
            past[t] = past[t - 1];
        past[0] = a[i];
        T sum = 0;
        #pragma unroll
        for (int t = 0; t < TAPS; t++)
            sum += past[t] * weight[t];
        c[i] = sum;
    }
}
