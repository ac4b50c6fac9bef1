struct Large { int a[1000000]; };
__kernel void k(__global int *o, int n) {
    int a[1 << 23];
    int b[0];
    int c[-1];
    int d[n];
    int e[2.5f];
    long f[1L << 40];
    int g[1 << 19] = {1};
    o[0] = o[1 << 31] + a[0];
}
