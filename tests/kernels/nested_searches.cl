/* Searches with late exits inside other loops: their invocations run at once, and each is ahead of its exit condition. */

__kernel void row_lengths(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int r = 0; r < 12; r++) {
        int length = 0;
        while (length < 20 && a[r * 9 + length] != n) length++;
        out[r] = length;
    }
}

__kernel void lower_bounds(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int k = 0; k < 40; k++) {
        int low = 0, high = 64;
        while (low < high) {
            int middle = (low + high) >> 1;
            if (a[middle] < k - n) low = middle + 1; else high = middle;
        }
        out[k] = low;
    }
}

__kernel void rows_until(__global const int *restrict a, __global int *restrict out, int n)
{
    int begin = 0;
    for (int r = 0; r < 16; r++) {
        int end = begin + (a[r] & 7), sum = 0;
        for (int k = begin; k < end; k++) {
            if (a[64 + k % 64] > 15) break;
            sum += a[k];
        }
        out[r] = sum + end * n;
        begin = end;
    }
}

__kernel void copied_strings(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int r = 0; r < 8; r++)
        for (int k = 0; k < 12; k++) {
            int c = a[r * 16 + k];
            if (c == n) break;
            out[r * 16 + k] = c + r;
        }
}

__kernel void few_ahead(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int r = 0; r < 9; r++) {
        int k = 0;
        #pragma speculated_iterations 3
        while (k < 14 && a[r * 11 + k] != n) k++;
        out[r] = k;
    }
}

__kernel void one_at_a_time(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int r = 0; r < 9; r++) {
        int k = 0;
        #pragma max_interleaving 1
        while (k < 14 && a[r * 11 + k] != n) k++;
        out[r] = k;
    }
}

__kernel void two_deep(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int r = 0; r < 6; r++) {
        int found = 0;
        for (int s = 0; s < 4; s++) {
            int k = 0;
            while (k < 8 && a[r * 16 + s * 3 + k] > n) k++;
            if (k == 8) break;
            found += k;
        }
        out[r] = found;
    }
}

__kernel void maybe_in_place(__global const int *a, __global int *out, int n)
{
    for (int r = 0; r < 8; r++) {
        int k = 0;
        while (k < 10 && a[r * 12 + k] != n) k++;
        out[r * 12 + k] = n + r;
    }
}
