// A kernel for each rule of hls/profile/rules.toml but those of channels between running kernels, which are in waits.cl and depths.cl.
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int asked __attribute__((depth(4)));
channel int answered __attribute__((depth(4)));

// the host never starts the kernel that this one serves
__attribute__((max_global_work_dim(0))) __attribute__((autorun))
__kernel void idle(void)
{
    while (1)
        write_channel_intel(answered, 3 * read_channel_intel(asked));
}
__kernel void never_started(__global int *restrict out, int n)
{
    for (int k = 0; k < n; k++) {
        write_channel_intel(asked, k);
        mem_fence(CLK_CHANNEL_MEM_FENCE);
        out[k] = read_channel_intel(answered);
    }
}

// an iteration of each takes its latency before the next one begins
__kernel void recurrence(__global const float *restrict in, __global float *restrict out, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum = sum * 0.5f + in[k];
    out[0] = sum;
}
// nothing is carried but an integer sum: an iteration a cycle
__kernel void full(__global const int *restrict in, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[k];
    out[0] = sum;
}
// the same, launched with so few iterations that its latency is a quarter of its time, or all of it
__kernel void nothing(__global const int *restrict in, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[k];
    out[0] = sum;
}
__kernel void brief(__global const int *restrict in, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[k];
    out[0] = sum;
}
// the same, launched with pauses
__kernel void host(__global const int *restrict in, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[k];
    out[0] = sum;
}
// a load may read what one of the stores before has not written yet
__kernel void memory_order(__global int *bins, __global const int *restrict at, int n)
{
    for (int k = 0; k < n; k++)
        bins[at[k]] += k;
}
// whole words, the 16 of every second kilobyte: all are in one of the two banks, which has fewer words a cycle than the two loads want
__kernel void one_bank(__global const int *restrict in, __global const int *restrict other, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++) {
        int at = (k >> 4) * 512 + (k & 15) * 16;
        #pragma unroll
        for (int t = 0; t < 16; t++)
            sum += in[at + t] ^ other[at + t];
    }
    out[0] = sum;
}
// 4 of 64 bytes moved are used
__kernel void pattern(__global const int *restrict in, __global const int *restrict other, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++) {
        int at = (k * 40503 & 16383) * 16;
        sum += in[at] ^ other[at ^ 4096];
    }
    out[0] = sum;
}
// 128 bytes a cycle: memory has 107
__kernel void bandwidth(__global const int *restrict in, __global const int *restrict other, __global int *restrict out, int n)
{
    int sum = 0;
    #pragma unroll 16
    for (int k = 0; k < n; k++)
        sum += in[k] ^ other[k];
    out[0] = sum;
}
// whole words, each in another row
__kernel void rows(__global const int *restrict in, __global const int *restrict other, __global int *restrict out, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++) {
        int at = (k * 40503 & 16383) * 16;
        #pragma unroll
        for (int t = 0; t < 16; t++)
            sum += in[at + t] ^ other[(at ^ 4096) + t];
    }
    out[0] = sum;
}
// each address comes from the load before
__kernel void latency(__global const int *restrict next, __global int *restrict out, int n)
{
    int at = 0;
    for (int k = 0; k < n; k++)
        at = next[at];
    out[0] = at;
}
// the same with sixteen chains of whole words, side by side: memory has more to do, and still waits for their addresses
__kernel void memory(__global const int *restrict next, __global int *restrict out, int n)
{
    int at[16];
    #pragma unroll
    for (int c = 0; c < 16; c++)
        at[c] = c;
    for (int k = 0; k < n; k++) {
        #pragma unroll
        for (int c = 0; c < 16; c++) {
            int sum = 0;
            #pragma unroll
            for (int t = 0; t < 16; t++)
                sum += next[16 * at[c] + t];
            at[c] = sum;
        }
    }
    int sum = 0;
    #pragma unroll
    for (int c = 0; c < 16; c++)
        sum ^= at[c];
    out[0] = sum;
}
// the store in the loop shares a port with six others to places that are not known
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void local_memory(__global const int *restrict in, __global int *restrict out)
{
    __local int t[1024];
    int l = get_local_id(0), v = in[get_global_id(0)];
    t[v & 1023] = v;
    t[v * 3 & 1023] = l;
    t[v * 5 & 1023] = v;
    t[v * 7 & 1023] = l;
    t[v * 9 & 1023] = v;
    t[v * 11 & 1023] = l;
    for (int k = 0; k < (v & 1); k++)
        t[v + k * 13 & 1023] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t[l ^ 1];
}
// the first of 64 work-items to come to a barrier waits for the last, twice a round
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void barriers(__global const int *restrict in, __global int *restrict out, int n)
{
    __local int t[64];
    int l = get_local_id(0), v = in[get_global_id(0)];
    for (int k = 0; k < n; k++) {
        t[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += t[l ^ 1] ^ k;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = v;
}
// a group keeps its copy of local memory, of which there is room for few, while it takes eight square roots
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void groups(__global const int *restrict in, __global float *restrict out)
{
    __local float t[32768];
    int l = get_local_id(0), v = in[get_global_id(0)];
    t[v & 32767] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    float x = t[v + l & 32767];
    #pragma unroll
    for (int k = 0; k < 8; k++)
        x = sqrt(x + k);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = x + t[v & 32767];
}
// the outer loop waits until the last iterations of the inner one have left it
__kernel void inner_loop(__global int *restrict out, int n)
{
    int sum = 0;
    #pragma disable_loop_pipelining
    for (int k = 0; k < n; k++)
        for (int t = 0; t < 8; t++)
            sum ^= (int)(sqrt((float)(8 * k + t)) * 100.0f);
    out[0] = sum;
}
