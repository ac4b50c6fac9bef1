__kernel void scatter(__global const int *restrict in, __global int *restrict out, int n)
{
    __local int h[4096];
    #pragma ivdep array(h)
    for (int i = 0; i < n; i++) {
        int p = in[i];
        h[p & 4095] = i;
        h[p >> 8 & 4095] = i + 1;
        h[p >> 16 & 4095] = i + 2;
    }
    for (int i = 0; i < 4096; i++)
        out[i] = h[i];
}
