__kernel void copy(__global const int *restrict a, __global int *restrict o, int n)
{
    int part[16];
    #pragma HLS ARRAY_PARTITION variable=part complete
    #pragma HLS interface m_axi port=a
    #pragma HLS new_directive
    for (int i = 0; i < n; i++) {
        #pragma HLS pipeline
        part[i & 15] = a[i];
        o[i] = part[(i + 1) & 15];
    }
    for (int i = 0; i < n; i++) {
        #pragma HLS PIPELINE II=2
        o[i] += a[i];
    }
    for (int i = 0; i < n; i++) {
        #pragma HLS unroll factor=4
        o[i] += a[i];
    }
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < n; i++)
        o[i] *= a[i];
    #pragma omp critical
    o[0] = 1;
    #pragma GCC ivdep
    for (int i = 0; i < n; i++)
        o[i] -= a[i];
    #pragma GCC unroll 8
    for (int i = 0; i < n; i++)
        o[i] |= a[i];
    #pragma clang loop unroll_count(4)
    for (int i = 0; i < n; i++)
        o[i] ^= a[i];
}
