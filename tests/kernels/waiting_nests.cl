// Nests that are one loop on boards with external memory, as each row would wait there for the stores of the one before.

// each row is computed from all elements of the row before
__kernel void levels(__global const int *restrict row, __global const int *restrict edge, __global int *restrict a, int n)
{
    for (int t = 1; t < n; t++)
        for (int s = 0; s < 8; s++) {
            int best = 1000;
            for (int p = 0; p < 8; p++) {
                int c = a[(t - 1) * 8 + p] + edge[p * 8 + s];
                if (c < best)
                    best = c;
            }
            a[t * 8 + s] = best + edge[t & 15];
        }
}

// the loop around the nest waits: elements around the inner loop are those that it has stored
__kernel void eliminate(__global const int *restrict row, __global const int *restrict edge, __global int *restrict a, int n)
{
    for (int k = 0; k < n - 1; k++)
        for (int i = k + 1; i < n; i++) {
            int factor = a[i * n + k] * a[k * n + k];
            for (int j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
        }
}

// labels spread along edges, in rows of which some are empty
__kernel void spread(__global const int *restrict row, __global const int *restrict edge, __global int *restrict a, int n)
{
    for (int v = 0; v < n; v++) {
        int least = a[v];
        for (int e = row[v]; e < row[v + 1]; e++)
            if (a[edge[e]] < least)
                least = a[edge[e]];
        a[v] = least;
    }
}
