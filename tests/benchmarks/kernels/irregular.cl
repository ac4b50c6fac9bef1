// Loops whose work depends on the data.

__kernel void if_convert(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n)
{
    int i = 0, used = 0;
    while (used < n) {
        int x = a[i] * b[i];
        if (x > 0)
            i += 2;
        else
            i++;
        used++;
    }
    out[0] = i;
}

__kernel void tanh_table(__global int *restrict value, __global const int *restrict at, int n)
{
    for (int i = 0; i < n; i++) {
        int x = value[at[i]];
        if (x <= 0)
            value[at[i]] = x + 128;
        else if (x < 4000) {
            int square = (x * x) >> 12;
            int cube = (square * x) >> 12;
            value[at[i]] = x - (cube * 1365 >> 12);
        }
    }
}

__kernel void compact(__global const int *restrict in, __global int *restrict out, __global int *restrict count, int n)
{
    int o = 0;
    for (int i = 0; i < n; i++) {
        int v = in[i];
        if (v & 1)
            out[o++] = v;
        if (v % 3 == 0)
            out[o++] = -v;
    }
    count[0] = o;
}

__kernel void run_lengths(__global const int *restrict in, __global int *restrict value, __global int *restrict length,
                          __global int *restrict count, int n)
{
    int o = 0, run = 1;
    for (int i = 1; i < n; i++)
        if (in[i] == in[i - 1])
            run++;
        else {
            value[o] = in[i - 1];
            length[o++] = run;
            run = 1;
        }
    value[o] = in[n - 1];
    length[o++] = run;
    count[0] = o;
}

__kernel void row_lengths(__global const char *restrict text, __global int *restrict length, int rows, int width)
{
    for (int r = 0; r < rows; r++) {
        int k = 0;
        while (k < width && text[r * width + k] != 0)
            k++;
        length[r] = k;
    }
}

__kernel void random_access(__global uint *restrict table, uint mask, uint seed, int n)
{
    uint r = seed;
    for (int i = 0; i < n; i++) {
        r = (r << 1) ^ (r >> 31 ? 7u : 0u);
        table[r & mask] ^= r;
    }
}

__kernel void cheapest(__global const int *restrict weight, __global const int *restrict height, __global int *restrict out, int n)
{
    int best = 1 << 30;
    for (int i = 0; i < n; i++)
        if (weight[i] < best)
            best = weight[i] + height[i];
    out[0] = best;
}

__kernel void md_neighbours(__global const float *restrict x, __global const float *restrict y, __global const float *restrict z,
                            __global const int *restrict list, __global float *restrict fx, int atoms, int most)
{
    for (int i = 0; i < atoms; i++) {
        float sum = 0;
        for (int k = 0; k < most; k++) {
            int j = list[i * most + k];
            float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            float r2 = 1.0f / (dx * dx + dy * dy + dz * dz);
            float r6 = r2 * r2 * r2;
            sum += dx * (r2 * r6 * (1.5f * r6 - 2.0f));
        }
        fx[i] = sum;
    }
}

// Blocks of a grid of side * side * side, each with count[b] of at most 4 points; a block acts on all its neighbours.
__kernel void md_grid(__global const int *restrict count, __global const int *restrict position, __global int *restrict force, int side)
{
    for (int bz = 0; bz < side; bz++)
        for (int by = 0; by < side; by++)
            for (int bx = 0; bx < side; bx++)
                for (int nz = max(0, bz - 1); nz < min(side, bz + 2); nz++)
                    for (int ny = max(0, by - 1); ny < min(side, by + 2); ny++)
                        for (int nx = max(0, bx - 1); nx < min(side, bx + 2); nx++) {
                            int here = (bz * side + by) * side + bx, there = (nz * side + ny) * side + nx;
                            for (int p = 0; p < count[here]; p++) {
                                int sum = force[here * 4 + p];
                                for (int q = 0; q < count[there]; q++) {
                                    int delta = position[here * 4 + p] - position[there * 4 + q];
                                    sum += delta * delta < 64 ? delta : 0;
                                }
                                force[here * 4 + p] = sum;
                            }
                        }
}

__kernel void collatz(__global const uint *restrict start, __global int *restrict steps, int n)
{
    for (int i = 0; i < n; i++) {
        uint x = start[i];
        int count = 0;
        while (x != 1) {
            x = x & 1 ? 3 * x + 1 : x >> 1;
            count++;
        }
        steps[i] = count;
    }
}
