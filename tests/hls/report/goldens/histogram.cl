__kernel void histogram(__global const uchar *restrict in, __global uint *restrict out, int n)
{
    uint bins[256];
    for (int i = 0; i < 256; i++)
        bins[i] = 0;
    for (int i = 0; i < n; i++)
        bins[in[i]]++;
    for (int i = 0; i < 256; i++)
        out[i] = bins[i];
}
