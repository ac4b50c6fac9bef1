// Arrays in the kernel: banks, copies, merging, ROM, registers, shift registers.
__constant int powers[6] = {1, 3, 9, 27, 81, 243};
__kernel void local_arrays(__global const int *restrict a, __global int *restrict o, int n)
{
    __local int banked[4][256];
    __local int copied[512];
    __local int single[512];
    __local int __attribute__((merge("pair", "width"))) left[256];
    __local int __attribute__((merge("pair", "width"))) right[256];
    for (int k = 0; k < 256; k++) {
        #pragma unroll
        for (int b = 0; b < 4; b++)
            banked[b][k] = a[k * 4 + b];
        copied[k] = a[k + n];
        single[a[k] & 511] = k;
        left[k] = k ^ n;
        right[k] = k + n;
    }
    for (int k = 0; k < n; k++) {
        int sum = single[k & 511] + left[k & 255] + right[k & 255];
        #pragma unroll
        for (int b = 0; b < 4; b++)
            sum += banked[b][(k * 7) & 255];
        sum += copied[a[k] & 255] + copied[(a[k] >> 9) & 255] + copied[(a[k] >> 18) & 255];
        o[k] = sum;
    }
}
__kernel void private_arrays(__global const int *restrict a, __global int *restrict o, int n)
{
    int large[600];
    int window[16];
    int few[3];
    int last = 0;
    for (int k = 0; k < 600; k++)
        large[k] = a[k];
    #pragma unroll
    for (int k = 0; k < 16; k++)
        window[k] = 0;
    for (int k = 0; k < n; k++) {
        #pragma unroll
        for (int s = 15; s > 0; s--)
            window[s] = window[s - 1];
        window[0] = a[k];
        few[0] = window[15];
        few[1] = window[7];
        few[2] = k;
        o[k] = window[15] + large[(window[7] & 511) + last] + few[(a[k] >> 4) % 3] + powers[a[k] & 3];
        last = k & 7;
    }
}
__kernel void own_copies(__global const int *restrict a, __global int *restrict o, int n)
{
    for (int r = 0; r < n; r++) {
        int row[128], sum = 0;
        for (int c = 0; c < 128; c++)
            row[c] = a[r * 128 + c];
        for (int c = 0; c < 128; c++)
            sum += row[127 - c] * row[c];
        o[r] = sum;
    }
}
