// What keeps an II above 1: data, memory, ports, serial regions, and the clock.
__kernel void total(__global const float *restrict a, __global float *restrict o, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[k];
    *o = sum;
}
__kernel void rows(__global const float *restrict a, __global float *restrict o, int n)
{
    for (int r = 0; r < 64; r++) {
        float sum = 0.0f;
        for (int c = 0; c < 64; c++)
            sum += a[r * 64 + c];
        o[r] = sum;
    }
}
__kernel void table(__global const int *restrict at, __global int *restrict t, int n)
{
    for (int k = 0; k < 40; k++) {
        int size = t[k];
        for (int c = 0; c < 30; c++)
            size += at[k * 30 + c];
        t[size & 63] = size;
        t[k + 64] = t[size & 31] + k;
    }
}
__kernel void ports(__global const int *restrict a, __global int *restrict o, int n)
{
    __local int bins[1024];
    #pragma ivdep array(bins)
    for (int k = 0; k < n; k++) {
        int v = a[k];
        bins[v & 1023] = k;
        bins[(v >> 10) & 1023] = k + 1;
        bins[(v >> 20) & 1023] = k + 2;
    }
    for (int k = 0; k < 1024; k++)
        o[k] = bins[k];
}
__kernel void forced(__global const int *restrict a, __global int *restrict o, int n)
{
    int x = 1;
    #pragma ii 1
    for (int k = 0; k < n; k++)
        x = (x * 5 + a[k]) ^ (x >> 3);
    *o = x;
}
