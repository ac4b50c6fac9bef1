#define LEN 128

__kernel void sum_of_rows(__global const int *restrict m, __global const int *restrict v, __global int *restrict out)
{
    int total = 0;
    for (uint r = 0; r < LEN; r++) {
        for (uint c = 0; c < LEN; c++)
            total += m[r * LEN + c];
        total += v[r];
    }
    *out = total;
}

__kernel void one_bin(__global const uchar *restrict in, __global uint *restrict bins, int n)
{
    for (int i = 0; i < n; i++)
        bins[in[i]]++;
}

__kernel void updates(__global uint *restrict table, uint mask, int rounds, int n)
{
    uint r = 1;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n; i++) {
            r = r << 1 ^ ((int)r < 0 ? 7 : 0);
            table[r & mask] ^= r;
        }
}

__kernel void gather(__global const int *restrict at, __global const int *restrict table, __global int *restrict out, int n)
{
    for (int k = 0; k < n; k++)
        out[k] = table[at[k]];
}

__kernel void repeated_triad(__global const float *restrict b, __global const float *restrict c, __global float *restrict a, int times, int n)
{
    #pragma disable_loop_pipelining
    for (int k = 0; k < times; k++)
        for (int i = 0; i < n; i++)
            a[i] = b[i] + 3.0f * c[i];
}
