// Sum of each element's 3 x 3 surroundings, weighted, in a field of 64 x 64; the border stays as it is.
#pragma OPENCL FP_CONTRACT OFF
#ifndef T
#define T int
#endif
#define N 64
__kernel void stencil(__global const T *restrict a, __global const T *restrict b, __global T *restrict c)
{
    for (int y = 1; y < N - 1; y++)
        for (int x = 1; x < N - 1; x++) {
            T sum = 0;
            for (int v = 0; v < 3; v++)
                for (int u = 0; u < 3; u++)
                    sum += a[(y + v - 1) * N + x + u - 1] * b[v * 3 + u];
            c[y * N + x] = sum;
        }
}
