__kernel void k(__global int *restrict a, int n)
{
    #pragma unroll
    for (int i = 0; i < 300; i++) a[n * i] = i;
}
