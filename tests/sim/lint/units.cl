/* One kernel for each kind of hardware whose Verilog the other designs of the test do not have: wide units at any
   alignment and with masks, atomic operations, caches, memories with several ports, doubles, divisions, work-groups. */
typedef struct { short first; uchar rest[6]; } record;

kernel void wide(global const record *restrict in, global float *restrict out, global const float *restrict a, uint n)
{
    for (uint i = 0; i < n; i++) {
        record r = in[i];
        out[i] = r.first + r.rest[1] * r.rest[4];
    }
    #pragma unroll 4
    for (uint i = 1; i < n; i++)
        if (a[i] > 0)
            out[i] = a[i - 1] / a[i];
}

kernel void scattered(global const int *restrict at, global const double *restrict a, global double *restrict out,
                      global int *restrict counts, constant int *table, int n)
{
    long bins[64];
    for (int i = 0; i < 64; i++)
        bins[i] = 0;
    for (int i = 0; i < n; i++) {
        bins[at[i] & 63] += at[i] / 7;
        out[at[i]] = a[at[at[i]]] * table[i & 15];
        atomic_max(counts + (at[i] & 3), i);
    }
    for (int i = 0; i < 64; i++)
        out[i] += bins[i] % 1000;
}

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void groups(global const float *a, global float *out, local float *part)
{
    int l = get_local_id(0);
    part[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k <= l; k++)
        sum += part[k];
    out[get_global_id(0)] = exp(sum);
}
