// Product of a sparse matrix of 64 rows (row i: elements first[i] to first[i + 1] - 1) and a vector.
#include "types.h"
__kernel void spmv(__global const int *restrict first, __global const int *restrict column, __global const T *restrict value,
                   __global const T *restrict x, __global T *restrict y)
{
    ushort from = first[0];
    for (int i = 0; i < 64; i++) {
        ushort to = first[i + 1];
        T sum = 0;
        for (ushort j = from; j < to; j++)
            sum += value[j] * x[column[j]];
        y[i] = sum;
        from = to;
    }
}
