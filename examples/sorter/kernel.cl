// A network that sorts 16 keys in every cycle (Batcher's odd-even merge), between a kernel that reads and one that writes.

#define KEYS 16

struct keys { int key[KEYS]; };

channel struct keys unsorted __attribute__((depth(4)));
channel struct keys sorted __attribute__((depth(4)));

__kernel void fetch_keys(__global const struct keys *restrict in, int rows)
{
    for (int i = 0; i < rows; i++)
        write_channel_intel(unsorted, in[i]);
}

__attribute__((max_global_work_dim(0)))
__attribute__((autorun))
__kernel void network(void)
{
    while (1) {
        struct keys x = read_channel_intel(unsorted);
        #pragma unroll
        for (int p = 1; p < KEYS; p *= 2) {
            #pragma unroll
            for (int k = p; k >= 1; k /= 2) {
                #pragma unroll
                for (int j = k % p; j + k < KEYS; j += 2 * k) {
                    #pragma unroll
                    for (int i = 0; i < k; i++) {
                        if (i + j + k < KEYS && (i + j) / (2 * p) == (i + j + k) / (2 * p)) {
                            int a = x.key[i + j], b = x.key[i + j + k];
                            x.key[i + j] = min(a, b);
                            x.key[i + j + k] = max(a, b);
                        }
                    }
                }
            }
        }
        write_channel_intel(sorted, x);
    }
}

__kernel void store_sorted(__global struct keys *restrict out, int rows)
{
    for (int i = 0; i < rows; i++)
        out[i] = read_channel_intel(sorted);
}
