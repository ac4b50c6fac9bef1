// Cooperation of work-groups through local memory: tree reductions, prefix sums, sorting, tiled matrix products.

#define REDUCE(SIZE) \
    __attribute__((reqd_work_group_size(SIZE, 1, 1))) \
    __kernel void reduce_##SIZE(__global const int *restrict in, __global int *restrict sums) \
    { \
        __local int part[SIZE]; \
        int l = get_local_id(0); \
        part[l] = in[get_global_id(0)]; \
        barrier(CLK_LOCAL_MEM_FENCE); \
        for (int gap = SIZE / 2; gap > 0; gap >>= 1) { \
            int other = l < gap ? part[l + gap] : 0; \
            barrier(CLK_LOCAL_MEM_FENCE); \
            part[l] += other; \
            barrier(CLK_LOCAL_MEM_FENCE); \
        } \
        if (l == 0) sums[get_group_id(0)] = part[0]; \
    }

REDUCE(32)
REDUCE(64)
REDUCE(1024)

// after round k every element holds the sum of the 2^k values that end there
__attribute__((reqd_work_group_size(256, 1, 1)))
__kernel void prefix_sum(__global const int *restrict in, __global int *restrict out)
{
    __local int sum[256];
    int l = get_local_id(0);
    int own = in[get_global_id(0)];
    sum[l] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int back = 1; back < 256; back <<= 1) {
        if (l >= back) own += sum[l - back];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum[l] = own;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = own;
}

// bitonic: every round compares each value with one partner, and each keeps the smaller or the larger one
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void bitonic(__global const int *restrict in, __global int *restrict out)
{
    __local int line[64];
    int l = get_local_id(0);
    int own = in[get_global_id(0)];
    line[l] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int size = 2; size <= 64; size <<= 1)
        for (int step = size / 2; step > 0; step >>= 1) {
            int other = line[l ^ step];
            bool low = ((l & step) == 0) == ((l & size) == 0);
            own = low ? min(own, other) : max(own, other);
            barrier(CLK_LOCAL_MEM_FENCE);
            line[l] = own;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    out[get_global_id(0)] = own;
}

#define TILE 8

// c = a b for square matrices: each group fetches a tile of both, and all of its work-items use it
__attribute__((reqd_work_group_size(TILE, TILE, 1)))
__kernel void tiled_matmul(__global const int *restrict a, __global const int *restrict b, __global int *restrict c, int n)
{
    __local int tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    int sum = 0;
    for (int t = 0; t < n; t += TILE) {
        tile_a[y][x] = a[row * n + t + x];
        tile_b[y][x] = b[(t + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
