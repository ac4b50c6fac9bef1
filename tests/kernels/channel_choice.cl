// Calls on channels that are chosen at run time. Each group of kernels named in test_channel_choice.py runs at the same time.
typedef struct { int key; short part; uchar flags; } packet_t;

channel int dealt[4] __attribute__((depth(8)));
channel int routed[3] __attribute__((depth(4)));
channel uchar route __attribute__((depth(4)));
channel int offered[4];
channel int rows[2][3] __attribute__((depth(4)));
channel packet_t packets[2] __attribute__((depth(4)));
channel float4 vectors[2];
channel int swapped[2] __attribute__((depth(4)));
channel int asked[2];
channel int told[2];
channel int items[4] __attribute__((depth(4)));
pipe short piped[3] __attribute__((depth(4)));
pipe short tried[3] __attribute__((depth(4)));

// in turn: every value is there, in its order
__kernel void deal(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(dealt[i % 4], a[i]);
}
__kernel void gather(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) out[i] = read_channel_intel(dealt[i & 3]);
}

// as data says, and only sometimes
__kernel void sends(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        uint to = (uint)a[i] % 3;
        write_channel_intel(route, (uchar)to);
        if (a[i] & 8) write_channel_intel(routed[to], a[i]);
        else write_channel_intel(routed[2 - to], i);
    }
}
__kernel void receives(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int from = read_channel_intel(route);
        out[i] = read_channel_intel(routed[a[i] & 8 ? from : 2 - from]);
    }
}

// calls that do not wait: each channel keeps its order, whoever is asked when
__kernel void tries(__global const int *restrict a, int n) {
    int sent = 0;
    for (uint turn = 0; sent < n; turn++)
        if (write_channel_nb_intel(offered[turn & 3], a[sent])) sent++;
}
__kernel void polls(__global int *restrict out, int n) {
    int sum = 0, mixed = 0;
    for (uint turn = 0, got = 0; got < n; turn++) {
        bool valid;
        int x = read_channel_nb_intel(offered[turn % 4], &valid);
        if (valid) { sum += x; mixed ^= x; got++; }
    }
    out[0] = sum;
    out[1] = mixed;
}

// rows of a grid belong to different kernels, columns are chosen
void put(channel int row[3], int k, int x) { write_channel_intel(row[k], x); }
__kernel void upper(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) put(rows[0], i % 3, a[i]);
}
__kernel void lower(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(rows[1][2 - i % 3], a[i] * 3);
}
__kernel void both_rows(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int x = read_channel_intel(rows[0][i % 3]);
        out[i] = x - read_channel_intel(rows[1][2 - i % 3]);
    }
}

// values wider than a number
__kernel void packs(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        packet_t p = { a[i], (short)(a[i] >> 3), (uchar)i };
        float4 v = { a[i], i, a[i] - i, 1 };
        write_channel_intel(packets[i >> 1 & 1], p);
        write_channel_intel(vectors[i & 1], v);
    }
}
__kernel void unpacks(__global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        packet_t p = read_channel_intel(packets[i >> 1 & 1]);
        float4 v = read_channel_intel(vectors[i & 1]);
        out[i] = p.key * p.flags + p.part + (int)(v.x * v.y + v.z - v.w);
    }
}

// several calls of one iteration, and in several loops
__kernel void swaps(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        int k = a[i] & 1;
        write_channel_intel(swapped[k], a[i]);
        write_channel_intel(swapped[1 - k], i);
        write_channel_intel(swapped[k], a[i] * i);
    }
    for (int i = 0; i < n; i++) write_channel_intel(swapped[a[i] >> 1 & 1], -a[i]);
}
__kernel void unswaps(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int k = a[i] & 1, x = read_channel_intel(swapped[k]), y = read_channel_intel(swapped[!k]);
        out[i] = x * 7 - y + read_channel_intel(swapped[k]);
    }
    for (int i = 0; i < n; i++) out[i] ^= read_channel_intel(swapped[a[i] >> 1 & 1]);
}

// there and back
__kernel void asks(__global const int *restrict a, __global int *restrict out, int n) {
    int x = 1;
    for (int i = 0; i < n; i++) {
        write_channel_intel(asked[i & 1], a[i] + x);
        x = read_channel_intel(told[x & 1]);
        out[i] = x;
    }
}
__kernel void tells(int n) {
    int to = 1;
    for (int i = 0; i < n; i++) {
        int x = read_channel_intel(asked[i & 1]) * 5;
        write_channel_intel(told[to], x);
        to = x & 1;
    }
}

// work-items in their order
__kernel void item_source(__global const int *restrict a) {
    size_t i = get_global_id(0);
    write_channel_intel(items[(a[i] ^ i) & 3], a[i]);
}
__kernel void item_sink(__global const int *restrict a, __global int *restrict out) {
    size_t i = get_global_id(0);
    out[i] = read_channel_intel(items[(a[i] ^ i) & 3]) + 1;
}

// pipes
__kernel void pipe_source(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++) {
        short x = a[i];
        write_pipe_block(piped[i % 3], &x);
        while (write_pipe(tried[a[i] & 1 ? 2 : i & 1], &x) != 0) ;
    }
}
__kernel void pipe_sink(__global const int *restrict a, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        short x, y;
        read_pipe_block(piped[i % 3], &x);
        while (read_pipe(tried[a[i] & 1 ? 2 : i & 1], &y) != 0) ;
        out[i] = x * 3 + y;
    }
}
