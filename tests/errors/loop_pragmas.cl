__kernel void k(__global int *a, __global int *b, int n) {
    #pragma ivdep array(c)
    #pragma ivdep safelen(0)
    #pragma ivdep sometimes
    #pragma unroll 0
    #pragma ii
    #pragma disable_loop_pipelining 3
    #pragma max_concurrency many
    #pragma loop_coalesce 1, 2
    for (int i = 0; i < n; i++) a[i] = b[i];
    #pragma speculated_iteration 3
    __attribute__((xcl_pipeline_loop(2))) __attribute__((opencl_unroll_hnt(4)))
    while (n--) a[n] = 1;
}
