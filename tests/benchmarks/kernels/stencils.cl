// Stencils over a field of n rows with n cells each; the border stays as it is.

__kernel void jacobi(__global float *restrict a, __global float *restrict b, int steps, int n)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i * n + j] = 0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i * n + j] = b[i * n + j];
    }
}

__kernel void convolve(__global const int *restrict a, __constant int *w, __global int *restrict out, int n)
{
    for (int i = 0; i < n - 2; i++)
        for (int j = 0; j < n - 2; j++) {
            int sum = 0;
            for (int u = 0; u < 3; u++)
                for (int v = 0; v < 3; v++)
                    sum += w[u * 3 + v] * a[(i + u) * n + j + v];
            out[i * n + j] = sum;
        }
}

__kernel void sobel(__global const uchar *restrict in, __global uchar *restrict out, int n)
{
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            int gx = 0, gy = 0;
            for (int d = -1; d <= 1; d++) {
                int weight = d == 0 ? 2 : 1;
                gx += weight * (in[(y + d) * n + x + 1] - in[(y + d) * n + x - 1]);
                gy += weight * (in[(y + 1) * n + x + d] - in[(y - 1) * n + x + d]);
            }
            int size = abs(gx) + abs(gy);
            out[y * n + x] = size > 255 ? 255 : size;
        }
}

__kernel void life(__global const uchar *restrict in, __global uchar *restrict out, int n)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int around = 0;
            for (int v = -1; v <= 1; v++)
                for (int u = -1; u <= 1; u++)
                    if ((u != 0 || v != 0) && y + v >= 0 && y + v < n && x + u >= 0 && x + u < n)
                        around += in[(y + v) * n + x + u];
            out[y * n + x] = around == 3 || (around == 2 && in[y * n + x]);
        }
}
