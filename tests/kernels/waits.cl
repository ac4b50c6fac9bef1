// Kernels whose figures are known by hand, and chains of kernels of which one makes the others wait.
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int raw __attribute__((depth(4)));
channel int done __attribute__((depth(4)));
channel float shallow __attribute__((depth(2)));
channel int forth __attribute__((depth(2)));
channel int back __attribute__((depth(2)));

// addresses from a table: memory is slow, and the two kernels behind wait for it
__kernel void feed(__global const int *restrict at, __global const int *restrict table, int n)
{
    for (int k = 0; k < n; k++)
        write_channel_intel(raw, table[at[k]]);
}
__attribute__((max_global_work_dim(0))) __attribute__((autorun))
__kernel void pass(void)
{
    while (1) {
        int x = read_channel_intel(raw);
        for (int t = 0; t < 3; t++)
            x = x * x + t;
        write_channel_intel(done, x);
    }
}
__kernel void drain(__global int *restrict out, int n)
{
    for (int k = 0; k < n; k++)
        out[k] = read_channel_intel(done);
}

#ifndef CHAIN_AND_STRIDE
// the reader takes a value whenever its sum is done: the writer waits in the meantime
__kernel void write_fast(int n)
{
    for (int k = 0; k < n; k++)
        write_channel_intel(shallow, (float)k);
}
__kernel void read_slowly(__global float *restrict out, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum = sum * 0.5f + read_channel_intel(shallow);
    out[0] = sum;
}

// one value goes round: each waits for the other
__kernel void there(__global int *restrict out, int n)
{
    int x = 1;
    for (int k = 0; k < n; k++) {
        write_channel_intel(forth, x);
        mem_fence(CLK_CHANNEL_MEM_FENCE);
        x = read_channel_intel(back) + 1;
    }
    out[0] = x;
}
__kernel void and_back(int n)
{
    for (int k = 0; k < n; k++) {
        int x = read_channel_intel(forth);
        mem_fence(CLK_CHANNEL_MEM_FENCE);
        write_channel_intel(back, x + 1);
    }
}
#endif

// 4 of each 64 bytes moved are used
__kernel void stride(__global const int *restrict in, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[16 * k];
    out[0] = sum;
}
#ifndef CHAIN_AND_STRIDE
// one iteration of four makes a request
__kernel void one_in_four(__global const int *restrict in, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        if ((k & 3) == 3)
            sum += in[k];
    out[0] = sum;
}
// two units share the groups
__attribute__((num_compute_units(2))) __attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void shared_out(__global const int *restrict in, __global int *restrict out)
{
    int i = get_global_id(0);
    out[i] = in[i] * 3;
}

// 16 bytes from 4 bytes behind a multiple of 16 on: one of four requests lies in two words of 64 bytes
__kernel void misaligned(__global const int *restrict in, __global int *restrict out, int n)
{
    int sum = 0;
    #pragma unroll 4
    for (int k = 0; k < 4 * n; k++)
        sum += in[k + 1];
    out[0] = sum;
}
// from a table of 16 words of 64 bytes
__kernel void small_table(__global const int *restrict at, __global const int *restrict table, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += table[at[k]];
    out[0] = sum;
}
// the store in the loop and the one before it share a port
__kernel __attribute__((max_work_group_size(64)))
void one_port(__global const int *restrict in, __global int *restrict out)
{
    __local int t[512];
    int l = get_local_id(0), v = in[get_global_id(0)];
    t[l] = v;
    for (int k = 0; k < (v & 7); k++)
        t[l + 64 * k] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t[63 - l];
}
#endif
