// Weighted sum of each element's 3 x 3 surroundings in a field of 64 x 64, a row of three a cycle; the border of c stays as it is.
#include "types.h"
#define N 64
__kernel void stencil(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    for (int y = 1; y < N - 1; y++)
        for (int x = 1; x < N - 1; x++) {
            T sum = 0;
            for (int v = 0; v < 3; v++) {
                int from = (y + v - 1) * N + x - 1;
                sum += a[from] * b[3 * v] + a[from + 1] * b[3 * v + 1] + a[from + 2] * b[3 * v + 2];
            }
            c[y * N + x] = sum;
        }
}
