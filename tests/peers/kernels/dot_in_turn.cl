// Inner product of two vectors of 1,024 elements: sums of 64 parts take turns at one adder, and are added up in order.
#include "types.h"
#define PARTS 64
__kernel void dot_product(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    T sum = 0;
    for (int part = 0; part < PARTS; part++) {
        T mine = 0;
        for (int i = 0; i < 1024 / PARTS; i++)
            mine += a[i * PARTS + part] * b[i * PARTS + part];
        sum += mine;
    }
    *c = sum;
}
