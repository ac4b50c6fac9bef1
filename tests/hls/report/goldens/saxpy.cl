__kernel void saxpy(__global const float *restrict x, __global float *restrict y, float a, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}
