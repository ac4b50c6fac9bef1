__kernel void transpose(__global const int *restrict a, __global int *restrict out)
{
    __local int t[4][64];
    for (int i = 0; i < 64; i++) {
        #pragma unroll
        for (int k = 0; k < 4; k++)
            t[k][i] = a[4 * i + k];
    }
    for (int j = 0; j < 64; j++) {
        int sum = 0;
        #pragma unroll
        for (int k = 0; k < 4; k++)
            sum += t[k][63 - j];
        out[j] = sum;
    }
}
