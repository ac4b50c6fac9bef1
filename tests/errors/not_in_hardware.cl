__attribute__((num_simd_work_items(4), reqd_work_group_size(8, 1, 1)))
__kernel void k(__global int *a, __local int *t) {
    __local int tile[8] __attribute__((numbanks(2)));
    int l = get_local_id(0);
    tile[l] = a[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&a[0], tile[7 - l]);
    printf("%d\n", l);
}
