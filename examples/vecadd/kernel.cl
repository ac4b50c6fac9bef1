// c = a + b, as one pipelined loop and as work-items.

__kernel void vecadd(__global const float *restrict a, __global const float *restrict b,
                     __global float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

__kernel void vecadd_ndrange(__global const float *restrict a, __global const float *restrict b,
                             __global float *restrict c)
{
    int i = get_global_id(0);
    c[i] = a[i] + b[i];
}
