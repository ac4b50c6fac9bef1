// How often each of 256 values occurs among 1,024: four of them a cycle, each counted in a table of its own.
#include "types.h"
#define BINS 256
__kernel void histogram(__global const WORD *restrict a, __global T *restrict c)
{
    ushort first[BINS], second[BINS], third[BINS], fourth[BINS];
    for (int k = 0; k < BINS; k++)
        first[k] = second[k] = third[k] = fourth[k] = 0;
    for (int i = 0; i < 1024 / LANES; i++) {
        WORD value = a[i];
        first[value.x & 255]++;
        second[value.y & 255]++;
        third[value.z & 255]++;
        fourth[value.w & 255]++;
    }
    for (int k = 0; k < BINS; k++)
        c[k] = first[k] + second[k] + (third[k] + fourth[k]);
}
