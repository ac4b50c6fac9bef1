// Channels whose depth helps, is enough, or does not help.
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int shallow __attribute__((depth(2)));
channel int deep __attribute__((depth(32)));
channel int slow __attribute__((depth(2)));

// the writer writes 64 values in 64 cycles, and then none for 64; the reader reads one in two cycles
#define PAIR(name, c)                                                                                                   \
    __kernel void write_##name(int n)                                                                                   \
    {                                                                                                                   \
        for (int i = 0; i < n; i++)                                                                                     \
            if ((i & 64) == 0)                                                                                          \
                write_channel_intel(c, i);                                                                              \
    }                                                                                                                   \
    __kernel void read_##name(__global int *restrict out, int n)                                                        \
    {                                                                                                                   \
        int sum = 0;                                                                                                    \
        for (int i = 0; i < n; i++)                                                                                     \
            if (i & 1)                                                                                                  \
                sum += read_channel_intel(c);                                                                           \
        out[0] = sum;                                                                                                   \
    }
PAIR(bursts, shallow)
PAIR(bursts_deep, deep)

// the reader takes a value each three cycles: the writer waits in two of them
__kernel void write_always(int n)
{
    for (int i = 0; i < n; i++)
        write_channel_intel(slow, i);
}
__kernel void read_each_third(__global int *restrict out, int n)
{
    int sum = 0;
#pragma ii 3
    for (int i = 0; i < n; i++)
        sum += read_channel_intel(slow);
    out[0] = sum;
}
