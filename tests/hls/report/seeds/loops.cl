// Loops of single work-item kernels: names, unrolling, removal, nests, exits.
__kernel void counted(__global const int *restrict a, __global int *restrict o, int n)
{
    int sum = 0, p = 0;
    for (int k = 0; k < 4; k++)
        sum += a[k];
    #pragma unroll
    for (int k = 0; k < 3; k++)
        sum ^= a[n + k];
    #pragma unroll 2
    for (int k = 0; k < 64; k++)
        sum += a[k * 3];
    #pragma unroll
    for (int k = 0; k < n; k++)
        sum += o[k + 9];
    while (a[p] != 0)
        p++;
last:
    for (int k = 0; k < n; k++)
        o[k] = sum + p;
}
__kernel void gone(__global const int *restrict a, __global int *restrict o, int n)
{
    int unused = 0;
    for (int k = 0; k < n; k++)
        unused += a[k];
    do
        o[0] = n;
    while (0);
}
__kernel void nests(__global const int *restrict a, __global int *restrict o, int n)
{
    for (int r = 0; r < n; r++) {
        int sum = 0;
        for (int c = 0; c <= r; c++)
            sum += a[r * n + c];
        if (sum & 1) {
            int x = sum;
            while (x > 9)
                x -= x >> 1;
            o[r] = x;
        }
    }
}
__kernel void paced(__global const int *restrict a, __global int *restrict o)
{
    for (int r = 0; r < 50; r++) {
        int sum = 0;
        for (int c = 0; c < 40; c++)
            sum += a[r * 40 + c];
        o[r] = sum;
    }
}
