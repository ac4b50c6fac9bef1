// A histogram of bytes: four counters work in parallel, and one kernel collects their sums from whichever has one ready.

#define BINS 256
#define LANES 4

struct tally {
    int bin;
    uint count;
};

channel int bytes[LANES] __attribute__((depth(16)));  // behind their number
channel struct tally tallies[LANES] __attribute__((depth(4)));

__kernel void deal(__global const uchar4 *restrict in, int count)
{
    #pragma unroll
    for (int k = 0; k < LANES; k++)
        write_channel_intel(bytes[k], count);
    for (int i = 0; i < count; i++) {
        uchar4 now = in[i];
        write_channel_intel(bytes[0], now.x);
        write_channel_intel(bytes[1], now.y);
        write_channel_intel(bytes[2], now.z);
        write_channel_intel(bytes[3], now.w);
    }
}

__attribute__((max_global_work_dim(0)))
__attribute__((autorun))
__attribute__((num_compute_units(LANES)))
__kernel void counter(void)
{
    const int lane = get_compute_id(0);
    while (1) {
        uint counts[BINS];
        for (int i = 0; i < BINS; i++)
            counts[i] = 0;
        int count = read_channel_intel(bytes[lane]);
        for (int i = 0; i < count; i++)
            counts[read_channel_intel(bytes[lane])]++;
        for (int i = 0; i < BINS; i++) {
            struct tally t;
            t.bin = i;
            t.count = counts[i];
            write_channel_intel(tallies[lane], t);
        }
    }
}

__kernel void merge(__global uint *restrict out)
{
    uint total[LANES][BINS];
    for (int i = 0; i < BINS; i++) {
        #pragma unroll
        for (int k = 0; k < LANES; k++)
            total[k][i] = 0;
    }
    for (int got = 0; got < LANES * BINS;) {
        #pragma unroll
        for (int k = 0; k < LANES; k++) {
            bool there;
            struct tally t = read_channel_nb_intel(tallies[k], &there);
            if (there) {
                total[k][t.bin] += t.count;
                got++;
            }
        }
    }
    for (int i = 0; i < BINS; i++)
        out[i] = total[0][i] + total[1][i] + total[2][i] + total[3][i];
}
