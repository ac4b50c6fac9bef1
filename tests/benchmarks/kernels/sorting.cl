// Sorting, merging and searching.

__kernel void insertion_sort(__global int *restrict a, int n)
{
    for (int i = 1; i < n; i++) {
        int x = a[i];
        int j = i - 1;
        while (j >= 0 && a[j] > x) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = x;
    }
}

__kernel void bubble_sort(__global int *restrict a, int n)
{
    for (int end = n - 1; end > 0; end--)
        for (int i = 0; i < end; i++)
            if (a[i] > a[i + 1]) {
                int t = a[i];
                a[i] = a[i + 1];
                a[i + 1] = t;
            }
}

__kernel void merge_sort(__global int *restrict a, __global int *restrict b, int n)
{
    __global int *from = a;
    __global int *to = b;
    for (int width = 1; width < n; width *= 2) {
        for (int low = 0; low < n; low += 2 * width) {
            int middle = min(low + width, n), high = min(low + 2 * width, n);
            int i = low, j = middle;
            for (int k = low; k < high; k++)
                if (i < middle && (j >= high || from[i] <= from[j]))
                    to[k] = from[i++];
                else
                    to[k] = from[j++];
        }
        __global int *t = from;
        from = to;
        to = t;
    }
}

__kernel void radix_sort(__global uint *restrict a, __global uint *restrict b, int n)
{
    for (int shift = 0; shift < 16; shift += 4) {
        int count[16];
        for (int d = 0; d < 16; d++)
            count[d] = 0;
        for (int i = 0; i < n; i++)
            count[(a[i] >> shift) & 15]++;
        int sum = 0;
        for (int d = 0; d < 16; d++) {
            int t = count[d];
            count[d] = sum;
            sum += t;
        }
        for (int i = 0; i < n; i++)
            b[count[(a[i] >> shift) & 15]++] = a[i];
        for (int i = 0; i < n; i++)
            a[i] = b[i];
    }
}

__kernel void merge_lists(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n, int m)
{
    int i = 0, j = 0;
    for (int k = 0; k < n + m; k++) {
        if (j >= m || (i < n && a[i] <= b[j]))
            out[k] = a[i++];
        else
            out[k] = b[j++];
    }
}

__kernel void binary_search(__global const int *restrict table, __global const int *restrict key, __global int *restrict at, int n, int keys)
{
    for (int q = 0; q < keys; q++) {
        int low = 0, high = n;
        while (low < high) {
            int middle = (low + high) / 2;
            if (table[middle] < key[q])
                low = middle + 1;
            else
                high = middle;
        }
        at[q] = low;
    }
}

__kernel void arg_max(__global const int *restrict a, __global int *restrict out, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (a[i] > a[best])
            best = i;
    out[0] = best;
}
