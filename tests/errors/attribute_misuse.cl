__attribute__((reqd_work_group_size(64, 2, 1), max_work_group_size(64), num_simd_work_items(3)))
__kernel void a(__global int *o) { o[get_global_id(0)] = 1; }
__attribute__((reqd_work_group_size(6, 1, 1), num_simd_work_items(4)))
__kernel void b(__global int *o) { o[get_global_id(0)] = 1; }
__attribute__((max_global_work_dim(0), reqd_work_group_size(2, 1, 1)))
__kernel void c(__global int *o) { o[0] = 1; }
__attribute__((autorun))
__kernel void d(__global int *o) {
    int s[8] __attribute__((singlepump, doublepump));
    int r[8] __attribute__((register, numbanks(2)));
    int t[8] __attribute__((numbanks(3)));
    int u[8] __attribute__((numbanks(8), bank_bits(2, 3)));
    int v[8] __attribute__((memory(BLOCK)));
    int w[8] __attribute__((numreadports(2, 3), singlepump(1)));
    int x[8] __attribute__((numbanks(2), numbanks(4), bankwidth(0)));
    s[0] = x[0] = r[0] = t[0] = u[0] = v[0] = w[0] = o[0];
}
__kernel void e(__global int *o, int n) {
    #pragma ii 2
    #pragma disable_loop_pipelining
    for (int i = 0; i < n; i++) o[i] = i;
    #pragma unroll 2
    #pragma unroll 4
    for (int i = 0; i < n; i++) o[i] = i;
    #pragma loop_fuse
    #pragma nofusion
    for (int i = 0; i < n; i++) o[i] = i;
}
