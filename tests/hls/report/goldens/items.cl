__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void reverse(__global const int *restrict a, __global int *restrict out)
{
    __local int t[64];
    int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t[63 - l];
}
