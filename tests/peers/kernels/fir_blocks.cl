// 32-tap filter over 1,024 samples, LANES results side by side, a tap a cycle; each sum is added up in order.
#include "types.h"
#define TAPS 32
__kernel void fir(__global const WORD *restrict a, __global const T *restrict b, __global WORD *restrict c)
{
    __global const T *sample = (__global const T *)a;
    for (int block = 0; block < 1024 / LANES; block++) {
        WORD sum = 0, window = a[block];
        for (int t = 0; t < TAPS; t++) {
            sum += window * b[t];
            int before = block * LANES - 1 - t;
            window = (WORD)(before >= 0 ? sample[before] : 0, window.s012);
        }
        c[block] = sum;
    }
}
