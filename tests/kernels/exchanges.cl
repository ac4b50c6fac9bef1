// Two or more stores to local memory by one work-item, which its id and counters keep in different banks.
#define GROUP 64

// both places of a pair are written by the one of the two work-items that has the lower place
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void swaps(__global const uint *restrict in, __global uint *restrict out)
{
    __local uint line[GROUP];
    uint l = get_local_id(0);
    line[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint size = 2; size <= GROUP; size <<= 1)
        for (uint step = size >> 1; step > 0; step >>= 1) {
            uint other = l ^ step;
            if (other > l) {
                uint a = line[l], b = line[other];
                if ((a > b) == ((l & size) == 0)) {
                    line[l] = b;
                    line[other] = a;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    out[get_global_id(0)] = line[l];
}

// each work-item has a pair; nothing says how large a group is
__kernel void pairs(__global const uint *restrict in, __global uint *restrict out, uint descending)
{
    __local uint line[2 * GROUP];
    uint l = get_local_id(0), n = get_local_size(0);
    uint begin = 2 * n * get_group_id(0);
    line[l] = in[begin + l];
    line[l + GROUP] = in[begin + l + n];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = GROUP; step > 0; step >>= 1) {
        uint at = 2 * l - (l & (step - 1));
        uint a = line[at], b = line[at + step];
        if ((a > b) != descending) {
            line[at] = b;
            line[at + step] = a;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[begin + l] = line[l];
    out[begin + l + n] = line[l + GROUP];
}

// sums of all before, up a tree and down again
__attribute__((reqd_work_group_size(GROUP, 1, 1)))
__kernel void sums_before(__global const int *restrict in, __global int *restrict out)
{
    __local int tree[2 * GROUP];
    int l = get_local_id(0), begin = 2 * GROUP * get_group_id(0), span = 1;
    tree[2 * l] = in[begin + 2 * l];
    tree[2 * l + 1] = in[begin + 2 * l + 1];
    for (int active = GROUP; active > 0; active >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < active)
            tree[span * (2 * l + 2) - 1] += tree[span * (2 * l + 1) - 1];
        span *= 2;
    }
    if (l == 0)
        tree[2 * GROUP - 1] = 0;
    for (int active = 1; active < 2 * GROUP; active *= 2) {
        span >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < active) {
            int left = span * (2 * l + 1) - 1, right = span * (2 * l + 2) - 1;
            int t = tree[left];
            tree[left] = tree[right];
            tree[right] += t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[begin + 2 * l] = tree[2 * l];
    out[begin + 2 * l + 1] = tree[2 * l + 1];
}

// what lies beside a group's own, fetched by its first work-items; of three places at each end, and of one
#define FRINGED(NAME, REACH) \
    __attribute__((max_work_group_size(GROUP))) \
    __kernel void NAME(__global const int *restrict in, __global int *restrict out) \
    { \
        __local int line[GROUP + 2 * REACH]; \
        int l = get_local_id(0), i = get_global_id(0), n = get_global_size(0); \
        line[l + REACH] = in[i]; \
        if (l < REACH) { \
            line[l] = i >= REACH ? in[i - REACH] : 0; \
            line[l + REACH + GROUP] = i + GROUP < n ? in[i + GROUP] : 0; \
        } \
        barrier(CLK_LOCAL_MEM_FENCE); \
        int sum = 0; \
        for (int k = -REACH; k <= REACH; k++) \
            sum += line[l + REACH + k]; \
        out[i] = sum; \
    }

FRINGED(fringed, 3)
FRINGED(bordered, 1)

// a tile with two more rows and columns at each side
#define TILE 8
#define REACH 2
__attribute__((reqd_work_group_size(TILE, TILE, 1)))
__kernel void framed(__global const int *restrict in, __global int *restrict out)
{
    __local int tile[TILE + 2 * REACH][TILE + 2 * REACH];
    int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    int width = get_global_size(0), height = get_global_size(1);
    tile[y + REACH][x + REACH] = in[row * width + column];
    if (x < REACH) {
        tile[y + REACH][x] = in[row * width + max(column - REACH, 0)];
        tile[y + REACH][x + TILE + REACH] = in[row * width + min(column + TILE, width - 1)];
    }
    if (y < REACH) {
        tile[y][x + REACH] = in[max(row - REACH, 0) * width + column];
        tile[y + TILE + REACH][x + REACH] = in[min(row + TILE, height - 1) * width + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = -REACH; k <= REACH; k++)
        sum += tile[y + REACH + k][x + REACH] - 3 * tile[y + REACH][x + REACH + k];
    out[row * width + column] = sum;
}
