// Matrix product by SIDE x SIDE copies of one kernel: rows of A move to the right, columns of B move down, sums stay.
#pragma OPENCL FP_CONTRACT OFF

#ifndef SIDE
#define SIDE 8
#endif
#define REACH 4              // rows, and columns, of C that one copy computes at the same time
#define SUMS (REACH * REACH)  // so each sum has this many cycles for its addition

#define FIRST 1
#define LAST 2

struct factor {
    float value;
    int place;  // FIRST, LAST: of a sum
};
struct row { float value[SIDE]; };

channel struct factor right[SIDE][SIDE] __attribute__((depth(2)));
channel float down[SIDE][SIDE] __attribute__((depth(2)));
channel float sums[SIDE][SIDE] __attribute__((depth(SUMS)));

// `a` and `b` hold blocks of REACH * SIDE rows, or columns: for each step of the sum, the block's elements are adjacent.
__kernel void send_rows(__global const struct row *restrict a, int n, int blocks)
{
    for (int i = 0; i < blocks; i++)
        for (int j = 0; j < blocks; j++)
            for (int k = 0; k < n * SUMS; k++) {
                struct row now = a[(i * n + k / SUMS) * REACH + k % SUMS / REACH];
                #pragma unroll
                for (int r = 0; r < SIDE; r++) {
                    struct factor f;
                    f.value = now.value[r];
                    f.place = (k < SUMS ? FIRST : 0) | (k >= (n - 1) * SUMS ? LAST : 0);
                    write_channel_intel(right[r][0], f);
                }
            }
}

__kernel void send_columns(__global const struct row *restrict b, int n, int blocks)
{
    for (int i = 0; i < blocks; i++)
        for (int j = 0; j < blocks; j++)
            for (int k = 0; k < n * SUMS; k++) {
                struct row now = b[(j * n + k / SUMS) * REACH + k % REACH];
                #pragma unroll
                for (int c = 0; c < SIDE; c++)
                    write_channel_intel(down[0][c], now.value[c]);
            }
}

__attribute__((max_global_work_dim(0)))
__attribute__((autorun))
__attribute__((num_compute_units(SIDE, SIDE)))
__kernel void multiplier(void)
{
    const int r = get_compute_id(0), c = get_compute_id(1);
    float sum[SUMS];
    #pragma unroll
    for (int i = 0; i < SUMS; i++)
        sum[i] = 0.0f;
    while (1) {
        struct factor a = read_channel_intel(right[r][c]);
        float b = read_channel_intel(down[r][c]);
        if (c + 1 < SIDE)
            write_channel_intel(right[r][c + 1], a);
        if (r + 1 < SIDE)
            write_channel_intel(down[r + 1][c], b);
        float now = (a.place & FIRST ? 0.0f : sum[SUMS - 1]) + a.value * b;
        #pragma unroll
        for (int i = SUMS - 1; i > 0; i--)
            sum[i] = sum[i - 1];
        sum[0] = now;
        if (a.place & LAST)
            write_channel_intel(sums[r][c], now);
    }
}

__kernel void collect_sums(__global struct row *restrict c, int count)
{
    for (int i = 0; i < count; i++) {
        #pragma unroll
        for (int r = 0; r < SIDE; r++) {
            struct row line;
            #pragma unroll
            for (int k = 0; k < SIDE; k++)
                line.value[k] = read_channel_intel(sums[r][k]);
            c[i * SIDE + r] = line;
        }
    }
}
