// Kernels whose result depends on the order of their memory accesses.
__kernel void scan(__global int *a, int n) {
    for (int i = 0; i < n; i++) {  // a store that may not happen is no value to carry
        int x = a[i];
        if (x >= 0) a[i + 1] = x + 1;
    }
}
__kernel void far(__global int *a, int n) {
    for (int i = 0; i < n; i++) {
        int x = a[i];
        if (x >= 0) a[i + 8] = x * 3 + 1;
    }
}
__kernel void update(__global int *a, int n) {
    for (int i = 0; i < n; i++) a[i] = a[i] * 5 + i;
}
__kernel void shift(__global int *a, int n) {
    for (int i = 0; i < n; i++) a[i] = a[i + 1];
}
__kernel void store_first(__global int *a, __global int *b, int n) {
    for (int i = 0; i < n; i++) {
        a[i] = i * 7;
        b[i] = a[i + 1];
    }
}
__kernel void copy(__global int *a, __global int *b, int n) {
    for (int i = 0; i < n; i++) b[i + 2] = a[i] + 1;
}
__kernel void turn(__global int *restrict a, __global int *restrict b, int n) {
    for (int i = 0; i < n; i++) b[i] = a[i] + 3;
    for (int i = 0; i < n; i++) a[i] = b[n - 1 - i];
}
__kernel void counts(__global int *a, __global int *b, int n) {
    for (int i = 0; i < n; i++) b[a[i] & 7] += i;
}
__kernel void sometimes(__global int *restrict a, __global int *restrict b, int n) {
    for (int i = 0; i < n; i++)
        if (b[i] & 1) a[b[i] & 15] = a[i & 15] + i;
}
__kernel void comes_round(__global int *restrict a, __global int *restrict b, int n) {
    uint w = 3;
    for (int i = 0; i < n; i++) {
        if (w < 16) a[w] += b[i];
        w += 0x40000000;
    }
}
__kernel void last(__global int *a, int n) {
    for (int i = 0; i < n; i++) {
        a[0] = i;
        if (i & 1) a[i & 3] = i * 2;
    }
}
__kernel void rows(__global int *restrict a, int n) {
    for (int i = 1; i < n; i++)
        for (int j = 0; j < 6; j++) a[i * 6 + j] += a[(i - 1) * 6 + (j ^ 1)];
}
__kernel void move(__global int *a, __global int *b, int n) {
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j < 5; j++) {
            sum = sum * 3 + a[i + j];
            b[i + j] = sum / 7;
        }
    }
}
__kernel void triangle(__global int *a, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) a[i] += a[j];
}
__kernel void sums(__global int *a, __global int *b, int n) {
    for (int i = 0; i < n; i++) {
        int sum = 0;
        #pragma unroll 1
        for (int j = 0; j < 4; j++) sum += a[i + j];
        b[i + 1] = sum;
    }
}
__kernel void items(__global int *restrict a, __global int *restrict b) {
    int i = get_global_id(0);
    b[i] = a[i];
    a[i] = b[i] * 2 + a[i];
}
__kernel void bytes(__global uchar *a, int n) {
    for (int i = 0; i < n; i++) a[3 * i + 1] = a[2 * i] + 1;
}

// the inner loop's load keeps many words, which the store makes out of date
__kernel void table(__global int *restrict a, __global const int *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j < n; j++)
            sum += a[b[i + j] & 15];
        a[sum & 15] = sum & 255;
    }
}

// one loop stores to a row from its diagonal on, while the loop in it reads what lies before
__kernel void diagonal(__global int *restrict a, __global const int *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            int sum = b[j];
            for (int k = 0; k < i; k++)
                sum += a[k] * j;
            a[j] = sum;
        }
}

// loops store where a counter stands that each of them moves on
__kernel void grows(__global const int *restrict a, __global int *restrict b, int n)
{
    int end = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < (a[i] & 3); j++)
            b[end++] = a[j] + i;
        for (int j = 0; j < (a[i] & 1); j++)
            b[end++] = -i;
        #pragma unroll 1
        for (int j = 0; j < 2; j++)
            b[end++] = j;
    }
    b[end] = 12345;
}

// the loop over columns waits for that of the row before; in it, runs of the innermost one take turns
__kernel void columns(__global int *restrict a, __global const int *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 6; j++) {
            int mixed = 0;
            for (int k = 0; k < i; k++) {
                a[k * 6 + j] += b[i + k];
                mixed = mixed * mixed + b[j + k];
            }
            a[i * 6 + j] += mixed;
        }
}
