// Weighted sum of each element's 3 x 3 surroundings in a field of 64 x 64, an element a cycle; the border of c stays as it is.
// The two lines before are kept on the chip, so that every element is read once.
#include "types.h"
#define N 64
__kernel void stencil(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    T weight[9], above[N], middle[N], window[9];
    for (int k = 0; k < 9; k++) {
        #pragma unroll
        for (int m = 0; m < 8; m++)
            weight[m] = weight[m + 1];
        weight[8] = b[k];
    }
    #pragma unroll
    for (int k = 0; k < 9; k++)
        window[k] = 0;
    for (int i = 0; i < N * N; i++) {
        int x = i % N;
        #pragma unroll
        for (int v = 0; v < 3; v++) {
            window[3 * v] = window[3 * v + 1];
            window[3 * v + 1] = window[3 * v + 2];
        }
        window[2] = above[x];
        window[5] = middle[x];
        window[8] = a[i];
        above[x] = window[5];
        middle[x] = window[8];
        T sum = 0;
        #pragma unroll
        for (int k = 0; k < 9; k++)
            sum += window[k] * weight[k];
        if (i >= 2 * N && x >= 2)
            c[i - N - 1] = sum;
    }
}
