#pragma max_concurrency 2
__kernel void k(__global int *a, int n) {
    #pragma ii 4
    #pragma ii 4
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma disable_loop_pipelining
    #pragma max_concurrency 1
    for (int i = 0; i < n; i++) a[i] += 1;
    #pragma ii 4
    { a[0] = 1; }
    #pragma max_interleaving 2
    if (n) for (int i = 0; i < 8; i++) a[i] += 1;
    #pragma unroll
    a[1] = 2;
    #pragma loop_coalesce
}
