// NDRange kernels: properties, work-items as a loop, memories of several groups.
__kernel void any(__global const int *restrict a, __global int *restrict o)
{
    int i = get_global_id(0);
    o[i] = a[i] + 1;
}
__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void turned(__global const int *restrict a, __global int *restrict o, int n)
{
    __local int row[32];
    int i = get_local_id(0), g = get_global_id(0);
    row[i] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += row[(i + k) & 31];
    o[g] = sum;
}
__attribute__((max_work_group_size(64), num_simd_work_items(2)))
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void lanes(__global const int *restrict a, __global int *restrict o)
{
    int i = get_global_id(0);
    o[i] = a[i] * a[i];
}
