// 32-tap filter over 1,024 samples with one multiplier: a tap a cycle.
#pragma OPENCL FP_CONTRACT OFF
#ifndef T
#define T int
#endif
#define TAPS 32
__kernel void fir_small(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    for (int i = 0; i < 1024; i++) {
        T sum = 0;
        for (int t = 0; t < TAPS; t++)
            if (i >= t)
                sum += a[i - t] * b[t];
        c[i] = sum;
    }
}
