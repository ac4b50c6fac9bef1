// Sums of the rows of a sparse matrix (row i is value[first[i]] to value[first[i + 1] - 1]), each value squared:
// the trip counts are data, rows may be empty, and a long row may follow many short ones.
#pragma OPENCL FP_CONTRACT OFF

__kernel void divergent(__global const int *restrict first, __global const int *restrict value,
                        __global int *restrict sums, int rows)
{
    for (int i = 0; i < rows; i++) {
        int end = first[i + 1];
        int sum = 0;
        for (int j = first[i]; j < end; j++)
            sum += value[j] * value[j];
        sums[i] = sum;
    }
}

__kernel void divergent_float(__global const int *restrict first, __global const float *restrict value,
                              __global float *restrict sums, int rows)
{
    for (int i = 0; i < rows; i++) {
        int end = first[i + 1];
        float sum = 0.0f;
        for (int j = first[i]; j < end; j++)
            sum += value[j] * value[j];
        sums[i] = sum;
    }
}
