// Inner product of two vectors of 1,024 elements: a word at a time, its products added as a tree.
#include "types.h"
__kernel void dot_product(__global const WORD *restrict a, __global const WORD *restrict b, __global T *restrict c)
{
    T sum = 0;
    for (int i = 0; i < 1024 / LANES; i++) {
        WORD product = a[i] * b[i];
#if LANES == 8
        JOIN(T, 4) four = product.lo + product.hi;
        JOIN(T, 2) two = four.lo + four.hi;
        sum += two.x + two.y;
#elif LANES == 4
        JOIN(T, 2) two = product.lo + product.hi;
        sum += two.x + two.y;
#else
        sum += product;
#endif
    }
    *c = sum;
}
