// Neighbouring accesses of one iteration, which become wide ones: tails, both directions, structs by hand, windows, overlaps.

__kernel void add_tail(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n)
{
    #pragma unroll 8
    for (int i = 0; i < n; i++)
        out[i] = a[i] + b[i];
}

__kernel void add_unsigned(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, uint n)
{
    #pragma unroll 4
    for (uint i = 0; i < n; i++)
        out[i] = a[i] - b[i];
}

__kernel void backwards(__global const int *restrict a, __global int *restrict out, int n)
{
    #pragma unroll 4
    for (int i = n - 1; i >= 0; i--)
        out[i] = a[i] + i;
}

__kernel void in_place(__global int *restrict out, int n)
{
    #pragma unroll 16
    for (int i = 0; i < n; i++)
        out[i] = out[i] * 3 + i;
}

__kernel void points(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++) {
        int x = a[3 * i], y = a[3 * i + 1], z = a[3 * i + 2];
        out[3 * i + 2] = x;
        out[3 * i] = y + z;
        out[3 * i + 1] = y - z;
    }
}

__kernel void window(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int i = 1; i < n; i++)
        out[i] = a[i - 1] + 2 * a[i] + a[i + 1] + a[i + 5] + a[i] + a[i + 5];
}

__kernel void overlaps(__global const int *restrict a, __global int *restrict out, int n)
{
    __global const uchar *bytes = (__global const uchar *)a;
    for (int i = 0; i < n; i++)
        out[i] = a[i] + bytes[4 * i + 1] + ((__global const short *)a)[2 * i + 1] + a[i + 1];
}

__kernel void some_lanes(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++) {
        int k = a[4 * i];
        if (i % 3 == 0) {
            out[4 * i] = k;
            out[4 * i + 3] = a[4 * i + 3];
        } else {
            out[4 * i + 1] = k + a[4 * i + 1];
        }
        if (i & 1)
            out[4 * i + 1] = 5;
    }
}

__kernel void bytes(__global const uchar *restrict p, __global uchar *restrict q, int n)
{
    #pragma unroll 16
    for (int i = 0; i < n; i++)
        q[i] = p[i] + p[i + 1];
}

__kernel void mixed(__global const long *restrict w, __global short *restrict h, int n)
{
    for (int i = 0; i < n; i++) {
        long v = w[2 * i + 1] - w[2 * i];
        h[4 * i] = (short)v;
        h[4 * i + 1] = (short)(v >> 16);
        h[4 * i + 2] = (short)(v >> 32);
    }
}

__kernel void shared_buffers(__global const int *a, __global int *out, int n)
{
    for (int i = 0; i < n; i++) {
        int x = a[2 * i], y = a[2 * i + 1];
        out[2 * i] = y;
        out[2 * i + 1] = x + a[2 * i];
    }
}

__kernel void rows(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++) {
        int s = 0;
        #pragma unroll 4
        for (int k = 0; k < i; k++)
            s += a[8 + k] * a[k];
        out[i] = s;
    }
}

__kernel void items(__global const int *restrict a, __global int *restrict out, int n)
{
    int g = get_global_id(0);
    out[2 * g] = a[2 * g + 1];
    out[2 * g + 1] = a[2 * g] + n;
}

__kernel void rows_in_place(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int i = 0; i < 4; i++)
        #pragma unroll 4
        for (int j = 0; j < n; j++)
            out[i * n + j] = out[i * n + j] * 3 + a[j];
}

__kernel void items_in_place(__global const int *restrict a, __global int *restrict out, int n)
{
    int g = get_global_id(0);
    out[2 * g] -= a[2 * g + 1];
    out[2 * g + 1] *= n;
}
