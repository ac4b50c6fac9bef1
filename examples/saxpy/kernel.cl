// y = alpha * x + y, in place. The product is rounded before the sum, as on every device without contraction.
#pragma OPENCL FP_CONTRACT OFF

__kernel void saxpy(int n, float alpha, __global const float *restrict x, __global float *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = alpha * x[i] + y[i];
}
