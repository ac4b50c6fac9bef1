#define N 4
__kernel void k(__global int *a, int n) {
    #pragma ii 0
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii -1
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 2147483648
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 99999999999999999999
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii n
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii <4>
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii (2)+(N)
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 2.5
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii()
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 4 5
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii (
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma unroll(2)
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii sizeof(int)
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma unroll <8>
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii = 4
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii:4
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 4
    #pragma ii 4
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 4
    #pragma ii 5
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma unroll
    #pragma ii 5
    for (int i = 0; i < 8; i++) a[i] += 1;
    #pragma unroll
    #pragma nounroll
    for (int i = 0; i < 8; i++) a[i] += 1;
    #pragma max_concurrency -1
    for (int i = 0; i < 8; i++) a[i] += 1;
    #pragma disable_loop_pipelining
    #pragma max_concurrency 4
    for (int i = 0; i < 8; i++) a[i] += 1;
    #pragma ii 4
    { a[0] = 1; }
    #pragma ii 4
    if (n) for (int i = 0; i < 8; i++) a[i] += 1;
    #pragma ivdep safelen(n)
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ivdep safelen(0)
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ivdep array(n)
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ivdep array(a) array(a)
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ivdep array()
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ivdep 4
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 1/0
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 3 // three
    for (int i = 0; i < n; i++) a[i] += 1;
}
