// Dot product, added in strict order: each sum depends on the one before. (`dot` itself is a builtin.)
#pragma OPENCL FP_CONTRACT OFF

__kernel void dot_product(__global const float *restrict a, __global const float *restrict b,
                          __global float *restrict result, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    *result = sum;
}
