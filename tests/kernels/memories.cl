/* Buffers in several memories of a board: "FAST" has narrow words, "WIDE" words of another width than the default one. */
#define FAST __global __attribute__((buffer_location("FAST")))
#define WIDE __global __attribute__((buffer_location("WIDE")))

__kernel void gather(FAST const int *restrict table, __global const int *restrict at, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = table[at[i]];
}

__kernel void scatter(__global const int *restrict at, FAST int *restrict out, WIDE int *restrict back, int n)
{
    for (int i = 0; i < n; i++) {
        out[at[i]] = i;
        back[n - 1 - i] = i * 3;
    }
}

/* In one memory these might overlap; in two they cannot. */
__kernel void across(FAST int *a, WIDE int *b, int n)
{
    for (int i = 1; i < n; i++) {
        b[i] = a[i] + 1;
        a[i - 1] = b[i - 1] ^ i;
    }
}

__kernel void vectors(FAST const int4 *restrict a, WIDE const int4 *restrict b, __global int4 *restrict out, FAST int4 *restrict more, int n)
{
    for (int i = 0; i < n; i++) {
        out[i] = a[i] + b[i];
        more[i] = a[i] - b[i];
    }
}

__kernel void neighbours(FAST const int *restrict a, WIDE const int *restrict b, WIDE int *restrict out, int n)
{
    #pragma unroll 4
    for (int i = 0; i < n; i++)
        out[i] = a[i] + 5 * b[i];
}

__kernel void counted(FAST uint *restrict bins, WIDE uint *restrict sums, __global const uint *restrict at, int n)
{
    for (int i = 0; i < n; i++) {
        atomic_add(&bins[at[i] & 7], 1u);
        atomic_xor(&sums[at[i] & 3], at[i]);
    }
}

__kernel void constants(__constant __attribute__((buffer_location("FAST"))) int *restrict one, __constant int *restrict two,
                        __global const int *restrict at, WIDE int *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = one[at[i] & 15] + two[at[i] & 7];
}

__kernel void items(FAST const int *restrict a, __global int *restrict out, WIDE int *restrict swapped)
{
    int i = get_global_id(0), n = get_global_size(0);
    out[i] = a[i] + a[(i * 7) % n];
    swapped[n - 1 - i] = a[i];
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void reversed(FAST const int *restrict a, WIDE int *restrict out)
{
    __local int tile[16];
    int l = get_local_id(0);
    tile[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[15 - l];
}

__kernel void chosen(FAST int *restrict a, __global int *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        if (i & 1) a[i] = b[i] + 1;
        else b[i] = a[i] - 1;
    }
}
