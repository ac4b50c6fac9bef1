typedef long long wide;
int table[4] = { 1, 2, 3, 4 };
static float scale = 2.0f;
__kernel void f(__global wide *a, __global float *b, unsigned long long c) {
    a[0] = table[c & 3] + 1ull;
    b[0] = scale * M_PI;
    #pragma unroll
    b[1] = 0;
}
