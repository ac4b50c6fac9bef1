typedef uint word;
__kernel void k(__global int *a, int n) {
    #pragma ivdep safelen((16)/(4)
    for (int i = 0; i < 8; i++) a[i] = a[i + 4];
    #pragma ivdep safelen()
    for (int i = 0; i < 8; i++) a[i] = a[i + 4];
    #pragma ivdep safelen(2 * n)
    for (int i = 0; i < 8; i++) a[i] = a[i + 4];
    #pragma ivdep safelen(4) array(a) safelen(4)
    for (int i = 0; i < 8; i++) a[i] = a[i + 4];
    #pragma ivdep safelen((word)4 - 5)
    for (int i = 0; i < 8; i++) a[i] = a[i + 4];
    #pragma unroll (word)
    for (int i = 0; i < 8; i++) a[i] = a[i + 4];
    #pragma loop_fuse depth independent
    { for (int i = 0; i < 8; i++) a[i] = 1; for (int i = 0; i < 8; i++) a[i + 8] = 1; }
}
