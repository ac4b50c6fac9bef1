// The memories by which the vendor's guides explain banks, copies and pumping, in this project's own words; behind them patterns of
// access that are known from elsewhere. Those of groups take any number of groups.
#define ITEMS(SIZE) __attribute__((reqd_work_group_size(SIZE, 1, 1)))
#define IO __global const int *restrict in, __global int *restrict out
#define MEET barrier(CLK_LOCAL_MEM_FENCE)

ITEMS(1024) __kernel void exchanged(IO)  // three arrays, of which a pointer may be any
{
    __local int first[1024], second[1024], third[1024];
    int g = get_global_id(0), l = get_local_id(0), v = in[g];
    first[l] = v;
    second[l] = v + 1;
    third[l] = v + 2;
    MEET;
    int sum = 0;
    #pragma unroll 1
    for (int i = 0; i < 2; i++) {
        __local int *p = first, *q = second, *r = third;
        if (i % 3 == 1) {
            p = second;
            q = third;
            r = first;
        }
        sum ^= p[(l - i) & 1023];
        sum ^= q[(l - i) & 1023];
        sum ^= r[(l - i) & 1023];
    }
    out[g] = sum;
}

ITEMS(1024) __kernel void kept_apart(IO)  // the same without the exchange
{
    __local int first[1024], second[1024], third[1024];
    int g = get_global_id(0), l = get_local_id(0), v = in[g];
    first[l] = v;
    second[l] = v + 1;
    third[l] = v + 2;
    MEET;
    int sum = 0;
    #pragma unroll 1
    for (int i = 0; i < 2; i++) {
        sum ^= first[(l - i) & 1023];
        sum ^= second[(l - i) & 1023];
        sum ^= third[(l - i) & 1023];
    }
    out[g] = sum;
}

ITEMS(128) __kernel void one_of_each(IO)  // one load, one store
{
    __local int t[128];
    int g = get_global_id(0), l = get_local_id(0);
    t[l] = in[g];
    MEET;
    out[g] = t[127 - l];
}

ITEMS(1024) __kernel void banked_rows(IO)  // banks in the upper dimension, where the guide's compiler finds none
{
    __local int t[4][1024];
    int g = get_global_id(0), l = get_local_id(0), s = get_local_size(0), v = in[g];
    #pragma unroll
    for (int k = 0; k < 4; k++)
        t[k][l * k % s] = v >> k;
    MEET;
    int sum = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++)
        sum ^= t[k][(s - l) * k % s];
    out[g] = sum;
}

ITEMS(1024) __kernel void banked_columns(IO)  // banks in the lower dimension
{
    __local int t[1024][4];
    int g = get_global_id(0), l = get_local_id(0), s = get_local_size(0), v = in[g];
    #pragma unroll
    for (int k = 0; k < 4; k++)
        t[l * k % s][k] = v >> k;
    MEET;
    int sum = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++)
        sum ^= t[(s - l) * k % s][k];
    out[g] = sum;
}

__kernel void of_each_row(IO, int n)  // an array of each iteration of the outer loop
{
    for (int row = 0; row < n; row++) {
        int t[64];
        for (int k = 0; k < 64; k++)
            t[k] = in[row * 64 + k];
        for (int k = 0; k < 64; k++)
            out[row * 64 + k] = t[63 - k];
    }
}

__kernel void in_block_ram(IO, int n)  // indexed by a variable, and too large for registers
{
    int t[256];
    for (int k = 0; k < 256; k++)
        t[k] = in[k];
    for (int i = 0; i < n; i++)
        t[i & 127] += t[128 + (i & 127)];
    for (int k = 0; k < 256; k++)
        out[k] = t[k];
}

__constant int squares[512] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361};

ITEMS(64) __kernel void in_block_rom(IO)  // a table for each place that reads it
{
    int g = get_global_id(0);
    out[g] = squares[in[g] & 511] + squares[(in[g] >> 9 & 509) + 2];
}

#define COUNTED(NAME, STORED, BANKS, WIDTH, STEPS, PLACE) \
    ITEMS(64) __kernel void NAME(IO) \
    { \
        __local int t[8][4] __attribute__((BANKS, WIDTH)); \
        int g = get_global_id(0), l = get_local_id(0), x = in[g]; \
        _Pragma("unroll") \
        for (int i = 0; i < 4; i += STEPS) \
            t STORED = x >> i; \
        MEET; \
        int sum = l; \
        _Pragma("unroll") \
        for (int i = 0; i < 4; i += STEPS) \
            sum += t PLACE; \
        out[g] = sum; \
    }
// stores down an array of 8 x 4, and across it
COUNTED(down, [i][l & 3], numbanks(8), bankwidth(16), 2, [i][l & 3])
COUNTED(across, [l & 7][i], numbanks(4), bankwidth(4), 2, [l & 7][i])

#define THREE(NAME, PUMPING) \
    __kernel void NAME(IO, int n) \
    { \
        ushort t[1024] __attribute__((memory, numbanks(1), bankwidth(2), PUMPING, numreadports(3), numwriteports(1))); \
        for (int i = 0; i < 1024; i++) \
            t[i] = (ushort)in[i]; \
        for (int i = 0; i < n; i++) \
            out[i] = t[in[i] & 1023] + t[in[i] >> 4 & 1023] + t[in[i] >> 8 & 1023]; \
    }
// three loads and a store: a block for each load, or one at twice the clock for all
THREE(three_single, singlepump)
THREE(three_double, doublepump)

ITEMS(64) __kernel void eight_double(IO)  // eight loads and a store
{
    __local int t[1024] __attribute__((doublepump));
    int g = get_global_id(0), l = get_local_id(0), v = in[g], sum = 0;
    #pragma unroll 1
    for (int i = 0; i < 16; i++)
        t[i * 64 + l] = v * i;
    MEET;
    #pragma unroll
    for (int i = 0; i < 8; i++)
        sum ^= t[(v >> i) & 1023] << i;
    out[g] = sum;
}

ITEMS(128) __kernel void consecutive(IO)  // rows that depend on the work-item, a column each
{
    __local int t[1024][4];
    int g = get_global_id(0), l = get_local_id(0), v = in[g];
    #pragma unroll
    for (int i = 0; i < 4; i++)
        t[(l + i) & 127][i] = v + i;
    MEET;
    int sum = 0;
    #pragma unroll
    for (int i = 0; i < 4; i++)
        sum ^= t[(l + i) & 127][i];
    out[g] = sum;
}

#define BY_BITS(NAME, HIGH, LOW) \
    ITEMS(128) __kernel void NAME(IO) \
    { \
        __local int t[4][128] __attribute__((bank_bits(HIGH, LOW), bankwidth(4))); \
        int g = get_global_id(0), l = get_local_id(0), v = in[g]; \
        _Pragma("unroll") \
        for (int i = 0; i < 4; i++) \
            t[i][(l + i) & 127] = v + i; \
        MEET; \
        int sum = 0; \
        _Pragma("unroll") \
        for (int i = 0; i < 4; i++) \
            sum ^= t[i][(l + i) & 127]; \
        out[g] = sum; \
    }
BY_BITS(right_bits, 8, 7)
BY_BITS(wrong_bits, 4, 3)  // each row in all banks: stores take turns, as the guide's are arbitrated

// --- known from elsewhere ---

__attribute__((num_simd_work_items(4), reqd_work_group_size(16, 16, 1)))
__kernel void tiled_product(__global const int *restrict in, __global const int *restrict other, __global int *restrict out, int n)
{
    __local int p[16][16], q[16][16];
    int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1), column = get_global_id(0), sum = 0;
    for (int k = 0; k < n; k += 16) {
        p[y][x] = in[row * n + k + x];
        q[y][x] = other[(k + y) * n + column];
        MEET;
        #pragma unroll
        for (int i = 0; i < 16; i++)
            sum += p[y][i] * q[i][x];
        MEET;
    }
    out[row * n + column] = sum;
}

__kernel void stencil(IO, int n)  // 3 x 3 around each point of rows of 1,024, with two rows on the chip
{
    int rows[2][1024], window[3][3];
    for (int i = 0; i < n; i++) {
        int x = i & 1023, now = in[i], above = rows[1][x], highest = rows[0][x];
        #pragma unroll
        for (int k = 0; k < 3; k++) {
            window[k][0] = window[k][1];
            window[k][1] = window[k][2];
        }
        window[0][2] = highest;
        window[1][2] = above;
        window[2][2] = now;
        rows[0][x] = above;
        rows[1][x] = now;
        out[i] = i < 2050 ? 0 : 8 * window[1][1] - window[0][0] - window[0][1] - window[0][2] - window[1][0] - window[1][2]
            - window[2][0] - window[2][1] - window[2][2];
    }
}

// A transform of 4,096 points modulo the prime 12289 = 3 * 4096 + 1: the accesses of a Fourier transform, and all bytes exact. Each stage reads
// two points half of all apart and writes neighbours; what comes out is in bit-reversed places.
#define POINTS 4096
#define PRIME 12289u

__kernel void fourier(__global const int *restrict in, __global const int *restrict roots, __global int *restrict out)
{
    int points[2][POINTS];
    int powers[POINTS / 2];
    for (int i = 0; i < POINTS; i++)
        points[0][i] = in[i];
    for (int i = 0; i < POINTS / 2; i++)
        powers[i] = roots[i];
    for (int stage = 0; stage < 12; stage++)
        for (int i = 0; i < POINTS / 2; i++) {
            uint a = points[stage & 1][i], b = points[stage & 1][i + POINTS / 2];
            uint factor = powers[i >> stage << stage];
            uint sum = a + b, difference = (a + PRIME - b) * factor;
            points[~stage & 1][2 * i] = sum >= PRIME ? sum - PRIME : sum;
            points[~stage & 1][2 * i + 1] = difference % PRIME;
        }
    for (int i = 0; i < POINTS; i++) {
        int at = 0;
        #pragma unroll
        for (int k = 0; k < 12; k++)
            at |= (i >> k & 1) << (11 - k);
        out[i] = points[0][at];
    }
}

__attribute__((num_simd_work_items(16), reqd_work_group_size(64, 64, 1)))
__kernel void transpose(__global const ushort *restrict in, __global ushort *restrict out)
{
    __local ushort t[64][64];
    int x = get_local_id(0), y = get_local_id(1), at = get_global_id(1) * 64 + get_global_id(0);
    t[y][x] = in[at];
    MEET;
    out[at] = t[x][y];
}

__kernel void histogram(IO, int n)
{
    int counts[4][256];
    for (int i = 0; i < 256; i++) {
        #pragma unroll
        for (int k = 0; k < 4; k++)
            counts[k][i] = 0;
    }
    for (int i = 0; i < n / 4; i++) {
        #pragma unroll
        for (int k = 0; k < 4; k++)
            counts[k][in[4 * i + k] & 255]++;
    }
    for (int i = 0; i < 256; i++) {
        int sum = 0;
        #pragma unroll
        for (int k = 0; k < 4; k++)
            sum += counts[k][i];
        out[i] = sum;
    }
}
