__global __local int *wrong(int x);
__kernel void k(__global __constant int *a, restrict int n, __global int x, int *__global p, const int c) {
    c = 3;
    __constant int t = n;
    __constant int u;
    const int v = 1;
    v++;
    unsigned float f;
    long long l;
    signed unsigned s;
    short long m;
}
