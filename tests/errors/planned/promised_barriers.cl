// Barriers that only the program knows all work-items of a group to reach: warnings.
__kernel void strided(__global int *restrict a, int n) {
    __local int t[64];
    int l = get_local_id(0);
    for (int i = l; i < n; i += get_local_size(0)) {
        t[l] = a[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        a[i] = t[l ^ 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
__kernel void leaves(__global int *restrict a, __global const int *restrict ends, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int k = 0; k < ends[i / 64]; k++) {
        a[i] += k;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void known(__global int *restrict a) {
    for (int i = get_local_id(0); i < 1024; i += 64) {
        a[i] += i;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
