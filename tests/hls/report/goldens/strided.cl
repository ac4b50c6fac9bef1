__kernel void column(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i * 16];
}
