// Calls on channels in kernels whose work-items meet, and fences that order calls and memory.
channel int turned __attribute__((depth(4)));
channel int crossed __attribute__((depth(64)));
channel int fed;
channel int summed __attribute__((depth(8)));
channel int asked, answered;
channel int written __attribute__((depth(2)));
channel int granted __attribute__((depth(2)));
channel int noted __attribute__((depth(4)));
channel int ready __attribute__((depth(3)));
channel int looped __attribute__((depth(3)));

// before and behind a barrier on one channel, and on another one
__kernel void turn(__global const int *restrict a) {
    __local int t[64];
    int l = get_local_id(0), n = get_local_size(0);
    write_channel_intel(turned, a[get_global_id(0)]);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    write_channel_intel(turned, t[n - 1 - l]);
    if (l & 1) write_channel_intel(turned, l);
    write_channel_intel(crossed, t[l ^ 1]);
}
__kernel void take_turn(__global int *restrict out, int groups, int size) {
    for (int g = 0; g < groups; g++) {
        int s = 0;
        for (int i = 0; i < 2 * size + size / 2; i++) s = s * 3 + read_channel_intel(turned);
        for (int i = 0; i < size; i++) out[g * size + i] = s ^ read_channel_intel(crossed);
    }
}
// in a loop with barriers, both ways
__kernel void tiles(__global const int *restrict a, __global int *restrict out, int rounds) {
    __local int t[64];
    int l = get_local_id(0), n = get_local_size(0), s = a[get_global_id(0)];
    for (int k = 0; k < rounds; k++) {
        t[l] = read_channel_intel(fed);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < n; j++) s = s * 3 + t[j];
        barrier(CLK_LOCAL_MEM_FENCE);
        write_channel_intel(summed, s);
    }
    out[get_global_id(0)] = s;
}
__kernel void feed(__global const int *restrict b, int n) {
    for (int i = 0; i < n; i++) write_channel_intel(fed, b[i]);
}
__kernel void gather(__global int *restrict sums, int n) {
    for (int i = 0; i < n; i++) sums[i] = read_channel_intel(summed);
}
// all of a group ask before any answer is taken: the other kernel answers a group at a time
__kernel void asks_all(__global const int *restrict a, __global int *restrict out) {
    int i = get_global_id(0);
    for (int k = 0; k < (a[i] & 3); k++) write_channel_intel(asked, a[i] + k);
    write_channel_intel(asked, -1);
    barrier(CLK_CHANNEL_MEM_FENCE);
    out[i] = read_channel_intel(answered);
}
__kernel void answers_all(int groups, int size) {
    for (int g = 0; g < groups; g++) {
        int s = 0;
        for (int i = 0; i < size; i++) {
            int x;
            do { x = read_channel_intel(asked); s = s * 5 + x; } while (x != -1);
        }
        for (int i = 0; i < size; i++) write_channel_intel(answered, s + i);
    }
}
// memory that is told of through a channel, and given back through another: one place for two values at most
__kernel void puts(__global const int *restrict a, __global int *shared, int n) {
    for (int i = 0; i < n; i++) {
        if (i > 1) { int free = read_channel_intel(granted); }
        mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);
        shared[i & 1] = a[i];
        mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);
        write_channel_intel(written, i);
    }
}
__kernel void gets(__global const int *shared, __global int *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        int k = read_channel_intel(written);
        mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);
        out[i] = shared[k & 1] * 3 + k;
        mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);
        if (i + 2 < n) write_channel_intel(granted, i);
    }
}
// whole blocks
__kernel void puts_blocks(__global const int *restrict a, __global int *shared, int blocks) {
    for (int b = 0; b < blocks; b++) {
        for (int i = 0; i < 24; i++) shared[b * 24 + i] = a[b * 24 + i] ^ b;
        mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);
        write_channel_intel(ready, b);
    }
}
__kernel void gets_blocks(__global const int *shared, __global int *restrict out, int blocks) {
    for (int b = 0; b < blocks; b++) {
        int k = read_channel_intel(ready), s = 0;
        mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);
        for (int i = 0; i < 24; i++) s = s * 3 + shared[k * 24 + i];
        out[b] = s;
    }
}
// work-items: each stores, and tells of it
__kernel void item_puts(__global const int *restrict a, __global int *shared) {
    int i = get_global_id(0);
    shared[i ^ 1] = a[i] + i;
    mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);
    write_channel_intel(noted, i ^ 1);
}
__kernel void item_gets(__global const int *shared, __global int *restrict out) {
    int k = read_channel_intel(noted);
    mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_CHANNEL_MEM_FENCE);
    out[get_global_id(0)] = shared[k] * 2 + k;
}
// fences of memory alone, between work-items
__kernel void fenced_items(__global const int *restrict a, __global int *restrict out, __global int *restrict more) {
    __local int t[64], u[64];
    int i = get_global_id(0), l = get_local_id(0);
    t[l] = a[i];
    mem_fence(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l] * 2;
    write_mem_fence(CLK_GLOBAL_MEM_FENCE);
    more[i] = out[i] + 1;
    read_mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    u[l ^ 1] = more[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    more[i] = u[l];
}
