// What kernels share, units for global memory, channels, and area by part.
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int line[2] __attribute__((depth(3)));
__kernel void feed(__global const int *restrict at, __global const int *restrict t, __constant int *lut, int n, int len)
{
    for (int k = 0; k < n; k++) {
        write_channel_intel(line[0], t[at[k]] + lut[at[k] & 255]);
        write_channel_intel(line[1], t[k % len]);
    }
}
__attribute__((max_global_work_dim(0)))
__kernel void drain(__global int *restrict o, int n)
{
    for (int k = 0; k < n; k++) {
        int left = read_channel_intel(line[0]);
        for (int s = 0; s < 2; s++)
            left ^= left << (s + 1);
        o[k] = left - read_channel_intel(line[1]);
    }
}
__kernel void joined(__constant int *src, __global int *restrict o, int n)
{
    for (int k = 0; k < n; k++)
        o[k] = src[k] + src[k + 1] + src[k >> 1];
}
