// Units that the program chooses, and those of accesses made once a run. Buffers a, b, out, more of 64 ints, and n.

#define ARGS __global const int *restrict a, __global const int *restrict b, __global int *restrict out, __global int *restrict more, int n

// one after the other, in both directions; what is off asks for nothing
__kernel void small_units(ARGS) {
    for (int i = 0; i < n; i++) {
        int x = __pipelined_load(a + 63 - i);
        if (x & 1)
            x += __pipelined_load(&b[x & 63]);
        __pipelined_store(out + i, x);
    }
}

// elements smaller and larger than a pointer says
__kernel void small_units_of_any_size(ARGS) {
    __global const uchar *bytes = (__global const uchar *) a;
    __global const int4 *wide = (__global const int4 *) b;
    __global short *halves = (__global short *) out;
    for (int i = 0; i < n; i++) {
        __pipelined_store(halves + 2 * i + 1, (short) (__pipelined_load(bytes + 3 * i) * 5));
        int4 four = __pipelined_load(wide + (i & 7));
        __pipelined_store((__global int2 *) more + (i & 31), four.xz + four.yw);
    }
}

// the next address depends on what is read: words are requested ahead, and dropped at the end of a row
__kernel void follows(ARGS) {
    for (int r = 0; r < 4; r++) {
        int i = 0, j = 32;
        for (int k = 0; k < n; k++) {
            int x = a[i & 63], y = a[j], z = b[(i & 31) + r];
            if (x + r < y)
                i++;
            else if (j < 60)
                j += z & 1 ? 3 : 1;
            out[k] = x ^ y + z;
        }
        more[r] = i * 64 + j;
    }
}

// its own stores may change the word that was requested ahead
__kernel void follows_stores(ARGS) {
    for (int r = 0; r < 4; r++) {
        int i = 0, sum = 0;
        for (int k = 0; k < n && i < 62; k++) {
            int x = more[i];
            sum += x;
            i += x & 1 ? 2 : 1;
        }
        for (int k = 0; k <= i; k += 5)
            more[k] += sum;
        out[r] = sum;
    }
}

// the same where no other invocation of the loop could have its turn: these loads are inside its pipeline
__kernel void streams(ARGS) {
    int i = 0, j = 32;
    for (int k = 0; k < n; k++) {
        int x = a[i], y = b[j];
        out[k] = x < y ? x : y;
        if (x < y) i++;
        else if (j < 60) j += y & 1 ? 2 : 1;
    }
    more[0] = i * 64 + j;
}

// one of two streams moves on, as the elements and the ends of both decide; the outcome of the comparison is carried
__kernel void merged(ARGS) {
    int i = 0, j = 0;
    for (int k = 0; k < n; k++)
        if (j >= 11 || (i < 9 && a[i] <= b[j])) out[k] = a[i++];
        else out[k] = b[j++];
    more[0] = i;
}

// an exit that what is loaded decides, and words requested ahead that the kernel's own stores change
__kernel void streams_stored(ARGS) {
    int i = 0, sum = 0;
    for (int r = 0; r < 4; r++) {
        for (int k = 0; k < n && i < 60; k++) {
            int x = more[i];
            sum += x;
            i += x & 1;
            if (x > 990) break;
        }
        for (int k = 0; k < 64; k += 5) more[k] += sum;
        i = sum & 31;
    }
    out[0] = sum;
}

// a cache as the program wants it, hit and missed, and emptied where its own stores may change what it keeps
__kernel void chosen_caches(ARGS) {
    for (int r = 0; r < 3; r++) {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += __burst_coalesced_cached_load(a + (b[i] & 63), 256) + __burst_coalesced_cached_load(more + (b[i] >> 1 & 63), 4096);
        more[sum & 63] = sum;
        out[r] = sum;
    }
}

__kernel void chosen_bursts(ARGS) {
    for (int i = 0; i < n; i++)
        __burst_coalesced_store(&out[i], __burst_coalesced_load(&a[i]) + __prefetching_load(&b[i]));
}

// a store that later loads are compared with, and loads that see it
__kernel void small_units_in_order(ARGS) {
    for (int i = 0; i < n; i++) {
        int at = b[i] & 15;
        __pipelined_store(&more[at], __pipelined_load(&more[at]) + 1);
    }
}

// everything once: the small units choose themselves
__kernel void once(ARGS) {
    int first = a[1], last = b[n & 63];
    out[2] = first + last;
    int again = out[2];
    out[3] = again + 1;
    if (n & 1)
        more[n] = again;
}

// once for each of several groups, and for many work-items
__kernel void once_a_group(ARGS) {
    __local int base;
    int id = get_global_id(0);
    if (get_local_id(0) == 0)
        base = a[get_group_id(0) & 63];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[id & 63] = base + __pipelined_load(b + (id & 63));
}

// a word is read again for each access: others may have written it since
__kernel void polled(__global const int *restrict a, __global volatile const int *restrict b, __global int *restrict out, __global int *restrict more, int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += b[0] + a[i & 3];
    out[0] = s + b[1];
}
