// Products of a sparse matrix with a vector, in four layouts of the matrix.

__kernel void spmv_rows(__global const int *restrict row, __global const int *restrict column, __global const float *restrict value,
                        __global const float *restrict x, __global float *restrict y, int n)
{
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int e = row[i]; e < row[i + 1]; e++)
            sum += value[e] * x[column[e]];
        y[i] = sum;
    }
}

__kernel void spmv_ellpack(__global const int *restrict column, __global const float *restrict value,
                           __global const float *restrict x, __global float *restrict y, int n, int most)
{
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < most; k++)
            sum += value[i * most + k] * x[column[i * most + k]];
        y[i] = sum;
    }
}

__kernel void spmv_coordinates(__global const int *restrict row, __global const int *restrict column, __global const float *restrict value,
                               __global const float *restrict x, __global float *restrict y, int count)
{
    for (int e = 0; e < count; e++)
        y[row[e]] += value[e] * x[column[e]];
}

__kernel void spmv_columns(__global const int *restrict first, __global const int *restrict row, __global const float *restrict value,
                           __global const float *restrict x, __global float *restrict y, int n)
{
    for (int j = 0; j < n; j++) {
        float xj = x[j];
        for (int e = first[j]; e < first[j + 1]; e++)
            y[row[e]] += value[e] * xj;
    }
}
