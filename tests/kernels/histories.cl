// Loops whose values come back after several iterations: each is read before the tokens ahead of it have written.

__kernel void eight_products(__global const float *restrict a, __global float *restrict out, int n)
{
    float kept[8];
    #pragma unroll
    for (int c = 0; c < 8; c++)
        kept[c] = 1.0f + c;
    for (int k = 0; k < n; k++) {
        float next = kept[7] * a[k];
        #pragma unroll
        for (int c = 7; c > 0; c--)
            kept[c] = kept[c - 1];
        kept[0] = next;
    }
    #pragma unroll
    for (int c = 0; c < 8; c++)
        out[c] = kept[c];
}

// Too short for its sum: an II above 1, but less than without.
__kernel void four_sums(__global const float *restrict a, __global float *restrict out, int n)
{
    float one = a[0], two = a[1], three = a[2], four = 1.0f;
    for (int k = 0; k < n; k++) {
        float next = four + a[k];
        four = three;
        three = two;
        two = one;
        one = next;
    }
    out[0] = one;
    out[1] = two;
    out[2] = three;
    out[3] = four;
}

// Initial values that only memory knows, in a loop that is entered once.
__kernel void unknown_start(__global const float *restrict a, __global float *restrict out, int n)
{
    float kept[7];
    #pragma unroll
    for (int c = 0; c < 7; c++)
        kept[c] = a[c + 3];
    for (int k = 0; k < n; k++) {
        float next = kept[6] + a[k];
        #pragma unroll
        for (int c = 6; c > 0; c--)
            kept[c] = kept[c - 1];
        kept[0] = next;
        out[k & 31] = kept[3];
    }
    #pragma unroll
    for (int c = 0; c < 7; c++)
        out[40 + c] = kept[c];
}

// Short invocations one behind the other: tokens of several are between a read and its write.
__kernel void short_rows(__global const float *restrict a, __global float *restrict out, int n)
{
    for (int row = 0; row < n; row++) {
        float kept[12];
        #pragma unroll
        for (int c = 0; c < 12; c++)
            kept[c] = 0.5f * c;
        for (int k = 0; k < (row * 5 & 15); k++) {
            float next = kept[11] * a[row + k] + 1.0f;
            #pragma unroll
            for (int c = 11; c > 0; c--)
                kept[c] = kept[c - 1];
            kept[0] = next;
        }
        out[row] = kept[0] + kept[1] + kept[2] + kept[7];
    }
}

// Taps at several distances, one of them used at once and one much later.
__kernel void several_taps(__global const float *restrict a, __global float *restrict out, int n)
{
    float kept[12];
    #pragma unroll
    for (int c = 0; c < 12; c++)
        kept[c] = 0.25f;
    for (int k = 0; k < n; k++) {
        float next = (kept[11] * 0.5f + a[k]) + kept[8];
        out[k & 63] = kept[2] * kept[6];
        #pragma unroll
        for (int c = 11; c > 0; c--)
            kept[c] = kept[c - 1];
        kept[0] = next;
    }
    out[64] = kept[0];
}

// A loop that ends when memory says so.
__kernel void until_large(__global const float *restrict a, __global float *restrict out, int n)
{
    float kept[5];
    #pragma unroll
    for (int c = 0; c < 5; c++)
        kept[c] = 0.0f;
    int k = 0;
    while (k < n && a[k] < 1.9f) {
        float next = kept[4] + a[k];
        #pragma unroll
        for (int c = 4; c > 0; c--)
            kept[c] = kept[c - 1];
        kept[0] = next;
        k++;
    }
    #pragma unroll
    for (int c = 0; c < 5; c++)
        out[c] = kept[c];
    out[5] = k;
}

// The loop inside comes seldom, and what it leaves is waited for in a later level: the first one, which decides whether to go on from what was
// computed two iterations ago, meanwhile runs ahead of the loop's interval.
__kernel void ahead_of_the_interval(__global const float *restrict a, __global float *restrict out, int n)
{
    int left = 0;
    for (int k = 0; k < 40; k++) {
        if (k == n)
            break;
        if (left < a[k]) {
            out[k] = 1.0f;
            for (left = k; left < 1; left++)
                out[64 + left] = 2.0f;
        }
    }
}

// Invocations that wait for each other, and begin with what the one before has left.
__kernel void rounds(__global const float *restrict a, __global float *restrict out, int n)
{
    uint h[5];
    #pragma unroll
    for (int c = 0; c < 5; c++)
        h[c] = as_uint(a[c]) ^ n;
    for (int block = 0; block < n; block++) {
        uint v = h[0], w = h[1], x = h[2], y = h[3], z = h[4];
        #pragma nofusion
        for (int k = 0; k < (block * 7 & 15); k++) {
            uint next = rotate(v, 5u) + ((w & x) | (~w & y)) + z + as_uint(a[(block + k) & 127]) + 0x5a827999u;
            z = y;
            y = x;
            x = rotate(w, 30u);
            w = v;
            v = next;
        }
        h[0] += v;
        h[1] += w;
        h[2] += x;
        h[3] += y;
        h[4] += z;
        out[block & 63] = as_float(h[4]);
    }
    #pragma unroll
    for (int c = 0; c < 5; c++)
        out[64 + c] = as_float(h[c]);
}

// Stores keep the order of the rows: one issues right behind the one before, and begins with numbers of its own.
__kernel void row_starts(__global const float *restrict a, __global float *restrict out, int n)
{
    for (int row = 0; row < n; row++) {
        uint w = as_uint(a[row & 31]), x = as_uint(a[32 + (row & 31)]), y = w ^ x, z = w + x, v = x - w;
        for (int k = 0; k < 1 + (row * 7 & 7); k++) {
            uint next = rotate(v, 5u) + ((w & x) | (~w & y)) + z + 0x5a827999u * k;
            z = y;
            y = x;
            x = rotate(w, 30u);
            w = v;
            v = next;
            out[k & 63] = as_float(v + z);
        }
    }
}
