// c = a * b for square row-major matrices, the textbook way: each sum is added in order.
#pragma OPENCL FP_CONTRACT OFF

__kernel void matmul(__global const float *restrict a, __global const float *restrict b,
                     __global float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
