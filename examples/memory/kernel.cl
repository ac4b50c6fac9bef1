// Patterns of global memory access: streams of whole words, streams of floats, strides, gathers, many loads an iteration.
// The computation is small, and depends on the order of the values, so that a value at the wrong index shows.

// A pseudo-random number for each iteration (the last step of MurmurHash3)
uint stir(uint x)
{
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

// Words of 64 bytes: one stream, a copy, two and three streams in and one out
__kernel void read_words(__global const float16 *restrict a, __global uint16 *restrict sum, int n)
{
    uint16 found = 0;
    for (int i = 0; i < n; i++)
        found += as_uint16(a[i]) ^ (uint16)(stir(i));
    *sum = found;
}

__kernel void copy_words(__global const float16 *restrict a, __global float16 *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i];
}

#ifndef ONLY_PLACED  // the others gain nothing from manual placement of buffers

__kernel void join_two(__global const uint16 *restrict a, __global const uint16 *restrict b, __global uint16 *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i] ^ b[i];
}

__kernel void join_three(__global const uint16 *restrict a, __global const uint16 *restrict b, __global const uint16 *restrict c,
                         __global uint16 *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i] ^ b[i] ^ c[i];
}

// A float an iteration
__kernel void copy_floats(__global const float *restrict a, __global float *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i];
}

// Anywhere in a table, but in ``hot`` of 256 accesses only at its beginning. Masks are sizes less one
__kernel void gather(__global const uint *restrict table, __global uint *restrict sum, uint mask, uint hot_mask, uint hot, int n)
{
    uint found = 0;
    for (int i = 0; i < n; i++) {
        uint x = stir(i);
        found += table[x & ((x >> 24) < hot ? hot_mask : mask)] ^ x;
    }
    *sum = found;
}

// Strides in floats
__kernel void load_steps(__global const uint *restrict a, __global uint *restrict sum, int step, int n)
{
    uint found = 0;
    for (int i = 0; i < n; i++)
        found += a[i * step] ^ stir(i);
    *sum = found;
}

__kernel void store_steps(__global uint *restrict out, int step, int n)
{
    for (int i = 0; i < n; i++)
        out[i * step] = stir(i);
}

// One, two, four and eight loads an iteration and ten operations for each, from arrays in order, or at an index that is data
#define STIR(K, AT) x = (x ^ x << 13) + (a##K[AT] ^ x >> 7); x = (x ^ x >> 17) + (x << 5 ^ K);
#define LOADS_1(AT) STIR(0, AT)
#define LOADS_2(AT) LOADS_1(AT) STIR(1, AT)
#define LOADS_4(AT) LOADS_2(AT) STIR(2, AT) STIR(3, AT)
#define LOADS_8(AT) LOADS_4(AT) STIR(4, AT) STIR(5, AT) STIR(6, AT) STIR(7, AT)
#define IN(K) __global const uint *restrict a##K
#define ARRAYS_1 IN(0)
#define ARRAYS_2 ARRAYS_1, IN(1)
#define ARRAYS_4 ARRAYS_2, IN(2), IN(3)
#define ARRAYS_8 ARRAYS_4, IN(4), IN(5), IN(6), IN(7)
#define REGULAR(LOADS) \
    for (int i = 0; i < n; i++) { \
        uint x = i; \
        LOADS(i) \
        out[i] = x; \
    }
#define IRREGULAR(LOADS) \
    for (int i = 0; i < n; i++) { \
        uint x = i, at = index[i]; \
        LOADS(at) \
        out[i] = x; \
    }

__kernel void regular_1(ARRAYS_1, __global uint *restrict out, int n) { REGULAR(LOADS_1) }
__kernel void regular_2(ARRAYS_2, __global uint *restrict out, int n) { REGULAR(LOADS_2) }
__kernel void regular_4(ARRAYS_4, __global uint *restrict out, int n) { REGULAR(LOADS_4) }
__kernel void regular_8(ARRAYS_8, __global uint *restrict out, int n) { REGULAR(LOADS_8) }
__kernel void irregular_1(ARRAYS_1, __global const uint *restrict index, __global uint *restrict out, int n) { IRREGULAR(LOADS_1) }
__kernel void irregular_2(ARRAYS_2, __global const uint *restrict index, __global uint *restrict out, int n) { IRREGULAR(LOADS_2) }
__kernel void irregular_4(ARRAYS_4, __global const uint *restrict index, __global uint *restrict out, int n) { IRREGULAR(LOADS_4) }
__kernel void irregular_8(ARRAYS_8, __global const uint *restrict index, __global uint *restrict out, int n) { IRREGULAR(LOADS_8) }

#endif
