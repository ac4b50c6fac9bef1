// Sum of two vectors of 1,024 elements, a word at a time.
#include "types.h"
__kernel void vecadd(__global const WORD *restrict a, __global const WORD *restrict b, __global WORD *restrict c)
{
    for (int i = 0; i < 1024 / LANES; i++)
        c[i] = a[i] + b[i];
}
