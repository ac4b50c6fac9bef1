// A memory in block RAM, and products.
__kernel void blocks(__global const int *restrict a, __global int *restrict b, int f, int n)
{
    __local int seen[1024];
    for (int i = 0; i < n; i++)
        seen[i & 1023] = a[i] * f;
    for (int i = 0; i < n; i++)
        b[i] = seen[(i * 7) & 1023];
}
