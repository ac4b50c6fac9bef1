// Product of a lower triangular matrix and a vector: the inner loop grows with each row.
#pragma OPENCL FP_CONTRACT OFF

__kernel void triangular(__global const int *restrict matrix, __global const int *restrict x,
                         __global int *restrict y, int n)
{
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j <= i; j++)
            sum += matrix[i * n + j] * x[j];
        y[i] = sum;
    }
}

__kernel void triangular_float(__global const float *restrict matrix, __global const float *restrict x,
                               __global float *restrict y, int n)
{
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j <= i; j++)
            sum += matrix[i * n + j] * x[j];
        y[i] = sum;
    }
}
