// Kernels joined by channels: each group of kernels named in test_channels.py runs at the same time.
struct packet { int key; short part; uchar flags; };
typedef struct { int key; float weight; } item_t;

channel int plain;
channel int wires __attribute__((depth(0)));
channel int shallow __attribute__((depth(1)));
channel int deep __attribute__((depth(50)));
channel float4 vectors __attribute__((depth(4)));
channel struct packet packets __attribute__((depth(4)));
channel uchar bytes[3] __attribute__((depth(2)));
channel int grid[2][2];
channel int several __attribute__((depth(4)));
channel int nested;
channel int mixed;
channel int request;
channel int answer;
channel int left __attribute__((depth(16)));
channel int right __attribute__((depth(16)));
channel int offered;
channel int kept __attribute__((depth(64)));
channel int items;
channel int squares;

// one value an iteration, through every kind of storage
__kernel void source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(plain, a[i]);
}
__kernel void stage_wires(int n) {
    for (int i = 0; i < n; i++) write_channel_intel(wires, read_channel_intel(plain) + 1);
}
__kernel void stage_shallow(int n) {
    for (int i = 0; i < n; i++) write_channel_altera(shallow, read_channel_altera(wires) * 3);
}
__kernel void stage_deep(int n) {
    for (int i = 0; i < n; i++) write_channel_intel(deep, read_channel_intel(shallow) ^ 0x55);
}
__kernel void sink(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) out[i] = read_channel_intel(deep);
}

// values wider than a number
__kernel void vector_source(__global const float4 *restrict v, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(vectors, v[i] * 2.0f);
}
__kernel void vector_sink(__global float4 *restrict out, int n) {
    for (int i = 0; i < n; i++) out[i] = read_channel_intel(vectors).wzyx;
}
__kernel void packet_source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        struct packet p;
        p.key = a[i]; p.part = a[i] >> 3; p.flags = i;
        write_channel_intel(packets, p);
    }
}
__kernel void packet_sink(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        struct packet p = read_channel_intel(packets);
        out[i] = p.key + p.part * p.flags;
    }
}

// arrays of channels, by constant and unrolled indices
__kernel void array_source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        #pragma unroll
        for (int k = 0; k < 3; k++) write_channel_intel(bytes[k], (uchar)(a[i] >> 8 * k));
    }
}
__kernel void array_middle(int n) {
    for (int i = 0; i < n; i++) {
        int first = read_channel_intel(bytes[0]), second = read_channel_intel(bytes[1]), third = read_channel_intel(bytes[2]);
        write_channel_intel(grid[0][0], first); write_channel_intel(grid[1][1], second * third);
        if (first & 1) write_channel_intel(grid[0][1], third);
    }
}
__kernel void array_sink(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int x = read_channel_intel(grid[0][0]);
        out[i] = read_channel_intel(grid[1][1]) + (x & 1 ? read_channel_intel(grid[0][1]) << 8 : x);
    }
}

// several calls on one side of a channel: in one iteration, under conditions, and in several loops
__kernel void several_source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        int x = a[i];
        write_channel_intel(several, x);
        if (x & 1) write_channel_intel(several, i);
        write_channel_intel(several, x * i);
    }
}
__kernel void several_sink(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int x = read_channel_intel(several);
        int y = x & 1 ? read_channel_intel(several) : 7;
        out[2 * i] = x + y;
        out[2 * i + 1] = read_channel_intel(several);
    }
}
__kernel void nested_source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        write_channel_intel(nested, a[i] & 7);
        for (int j = 0; j < (a[i] & 7); j++) write_channel_intel(nested, i * j);
        write_channel_intel(nested, -i);
    }
    write_channel_intel(nested, n);
}
__kernel void nested_sink(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int count = read_channel_intel(nested), sum = 0;
        for (int j = 0; j < count; j++) sum = sum * 3 + read_channel_intel(nested);
        out[i] = sum + read_channel_intel(nested);
    }
    out[n] = read_channel_intel(nested);
}
__kernel void two_loops(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(mixed, a[i]);
    for (int i = 0; i < n; i++) write_channel_intel(mixed, a[n - 1 - i] + 1);
}
__kernel void one_loop(__global int *restrict out, int n) {
    for (int i = 0; i < 2 * n; i++) out[i] = read_channel_intel(mixed);
}

// there and back: each value depends on the answer to the one before
__kernel void asks(__global const int *restrict a, __global int *restrict out, int n) {
    int x = 1;
    for (int i = 0; i < n; i++) {
        write_channel_intel(request, a[i] + x);
        x = read_channel_intel(answer);
        out[i] = x;
    }
}
__kernel void answers(int n) {
    for (int i = 0; i < n; i++) write_channel_intel(answer, read_channel_intel(request) * 5);
}

// the calls of one kernel on two channels are far apart, and the other kernel drains one of them first
__kernel void forks(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        int x = a[i];
        write_channel_intel(left, x / 7);
        write_channel_intel(right, x);
    }
}
__kernel void joins(__global int *restrict out, int n) {
    for (int base = 0; base < n; base += 8) {
        int keep[8];
        for (int i = 0; i < 8; i++) keep[i] = read_channel_intel(left);
        for (int i = 0; i < 8; i++) out[base + i] = keep[7 - i] - read_channel_intel(right);
    }
}

// calls that do not block: every value arrives once, in order, whenever it is asked for
__kernel void tries(__global const int *restrict a, __global int *restrict failed, int n) {
    int i = 0, misses = 0;
    while (i < n) {
        if (write_channel_nb_intel(offered, a[i])) i++;
        else misses++;
    }
    failed[0] = misses;
}
__kernel void polls(__global int *restrict out, int n) {
    int got = 0;
    while (got < n) {
        bool valid;
        int x = read_channel_nb_intel(offered, &valid);
        if (valid) { out[got] = x; got++; }
    }
}

// what is left in a channel is there for the next launch
__kernel void fills(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(kept, a[i]);
}
__kernel void drains(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) out[i] = read_channel_intel(kept);
}

// work-items in their order
__kernel void item_source(__global const int *restrict a) {
    int i = get_global_id(0);
    if (a[i] > 0) write_channel_intel(items, a[i]);
    else write_channel_intel(squares, a[i] * a[i] + i);
}
__kernel void item_sink(__global const int *restrict a, __global int *restrict out) {
    int i = get_global_id(0);
    out[i] = a[i] > 0 ? read_channel_intel(items) : read_channel_intel(squares);
}

// kernels that run by themselves, and copies of one kernel in a row
channel int to_chain;
channel int chain[5] __attribute__((depth(2)));
__attribute__((max_global_work_dim(0))) __attribute__((autorun))
__kernel void chain_start() {
    write_channel_intel(chain[0], read_channel_intel(to_chain));
}
__attribute__((max_global_work_dim(0))) __attribute__((autorun)) __attribute__((num_compute_units(4)))
__kernel void link() {
    int id = get_compute_id(0);
    while (1) write_channel_intel(chain[id + 1], read_channel_intel(chain[id]) * 3 + id);
}
__kernel void chain_source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(to_chain, a[i]);
}
__kernel void chain_sink(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) out[i] = read_channel_intel(chain[4]);
}

// pipes, joined by their names
__kernel void pipe_source(__global const int *restrict a, write_only pipe int __attribute__((blocking)) __attribute__((depth(8))) sent, int n) {
    for (int i = 0; i < n; i++) write_pipe(sent, &a[i]);
}
__kernel void pipe_sink(read_only pipe int __attribute__((blocking)) sent, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int x;
        read_pipe(sent, &x);
        out[i] = x + 1;
    }
}
__kernel void pipe_tries(__global const int *restrict a, write_only pipe short tried, int n) {
    for (int i = 0; i < n; i++) {
        short x = a[i];
        while (write_pipe(tried, &x)) ;
    }
}
__kernel void pipe_polls(read_only pipe short tried, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        short x;
        while (read_pipe(tried, &x) != 0) ;
        out[i] = x;
    }
}

// fences: the note is only sent when the value is in its channel, and is read only after it
channel int noted __attribute__((depth(4)));
channel int notes __attribute__((depth(4)));
__kernel void fenced_source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        write_channel_intel(noted, a[i]);
        mem_fence(CLK_CHANNEL_MEM_FENCE);
        write_channel_intel(notes, i);
    }
}
__kernel void fenced_sink(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        bool valid;
        int note = read_channel_intel(notes);
        mem_fence(CLK_CHANNEL_MEM_FENCE);
        int x = read_channel_nb_intel(noted, &valid);
        out[i] = valid ? x * note : -77;
        mem_fence(CLK_CHANNEL_MEM_FENCE);
    }
}

// State that depends on calls that do not wait: bytes of three senders are gathered in a word, and leave it one by one.
channel uchar lanes[3];
channel uchar gathered;

__kernel void lane_source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        #pragma unroll
        for (int k = 0; k < 3; k++)
            write_channel_intel(lanes[k], (uchar)(a[i] >> k));
    }
}
__kernel void gathers(int n) {
    uint kept = 0, count = 0;
    int sent = 0;
    while (sent < 3 * n) {
        #pragma unroll
        for (int k = 0; k < 3; k++) {
            if (count < 3) {
                bool valid;
                uchar x = read_channel_nb_intel(lanes[k], &valid);
                if (valid) {
                    kept = kept << 8 | x;
                    count++;
                }
            }
        }
        if (count > 0 && write_channel_nb_intel(gathered, (uchar)(kept >> (count - 1) * 8))) {
            count--;
            sent++;
        }
    }
}
__kernel void gathered_sink(__global int *restrict out, int n) {
    int sum = 0, mixed = 0;  // in whatever order they come
    for (int i = 0; i < 3 * n; i++) {
        uchar x = read_channel_intel(gathered);
        sum += x;
        mixed ^= x;
    }
    out[0] = sum;
    out[1] = mixed;
}
