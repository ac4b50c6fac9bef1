// rows that successive invocations of an inner loop update: each element depends on the one with the same number, or a
// neighbour's, in the invocation before

// long enough that an invocation has left before the next one comes to the same element
__kernel void outer_products(__global const float *restrict a, __global const float *restrict b, __global float *restrict c) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 7; k++)
            for (int j = 0; j < 24; j++)
                c[i * 24 + j] += a[i * 7 + k] * b[k * 24 + j];
}

// too short for that, as the adder takes longer
__kernel void short_rows(__global const float *restrict a, __global const float *restrict b, __global float *restrict c) {
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 7; k++)
            for (int j = 0; j < 5; j++)
                c[i * 5 + j] += a[i * 7 + k] * b[k * 5 + j];
}

// rows of a triangle: first too short, then long enough
__kernel void triangle(__global const float *restrict a, __global float *restrict c, float scale) {
    for (int i = 0; i < 24; i++) {
        for (int j = 0; j <= i; j++) c[i * 24 + j] *= scale;
        for (int k = 0; k < 5; k++)
            for (int j = 0; j <= i; j++)
                c[i * 24 + j] += a[i * 5 + k] * a[j * 5 + k];
    }
}

// a length that only the launch knows, none at all included
__kernel void any_length(__global const float *restrict a, __global float *restrict c, int n, int m) {
    for (int k = 0; k < m; k++)
        for (int j = 0; j < n; j++)
            c[j] = c[j] * a[k] + 1.0f;
}

// other lengths each time, and an element that the invocation before stored two iterations later
__kernel void ahead(__global const int *restrict length, __global float *restrict c, int m) {
    for (int k = 0; k < m; k++)
        for (int j = 0; j < length[k]; j++)
            c[j] = c[j + 2] * 0.5f + c[j];
}

// in an array of the kernel, which is on the chip on every board
__kernel void in_an_array(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n, int m) {
    float row[512];
    for (int j = 0; j < n; j++) row[j] = c[j];
    for (int k = 0; k < m; k++)
        for (int j = 0; j < n; j++)
            row[j] = row[j] * a[k] + b[j];
    for (int j = 0; j < n; j++) c[j] = row[j];
}

// the shortest ways through a graph: each row is compared with one that has changed itself
__kernel void shortest(__global int *restrict d) {
    for (int k = 0; k < 12; k++)
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 12; j++)
                d[i * 12 + j] = min(d[i * 12 + j], d[i * 12 + k] + d[k * 12 + j]);
}

// elements under a condition, and invocations that do not take place
__kernel void some(__global const int *restrict on, __global float *restrict c, int n, int m) {
    for (int k = 0; k < m; k++)
        if (on[k] & 1)
            for (int j = 0; j < n; j++)
                if (on[j] & 2) c[j] = c[j] * 0.75f + 1.0f;
}

// loops short enough to be unrolled, each copy with ports of its own
__kernel void smoothed(__global const int *restrict in, __global int *restrict out, __global const int *restrict f, int n) {
    for (int r = 0; r < n; r++)
        for (int c = 0; c < 21; c++) {
            int s = 0;
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 3; x++) s += f[y * 3 + x] * in[(r + y) * 23 + c + x];
            out[r * 21 + c] = s;
        }
}
