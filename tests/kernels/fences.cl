// Barriers and memory fences behind each other. Work-items write each other's elements, so what comes behind must see what comes before.
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void barrier_fence(__global int *o)
{
    int g = get_global_id(0);
    o[g] = g;
    barrier(CLK_GLOBAL_MEM_FENCE);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    o[g ^ 1] += 2;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void fence_barrier(__global int *o)
{
    int g = get_global_id(0);
    o[g] = g;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_GLOBAL_MEM_FENCE);
    o[g ^ 63] += 2;
}

__kernel void between(__global int *o, __local int *t, int n)
{
    int g = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    for (int i = 0; i < n; i++) {
        t[l] = o[g] + i;
        mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        barrier(CLK_LOCAL_MEM_FENCE);
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        o[g] += t[size - 1 - l];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        write_mem_fence(CLK_GLOBAL_MEM_FENCE);
    }
}

__kernel void twice(__global int *o, __global int *p)
{
    int g = get_global_id(0), l = get_local_id(0), first = g - l;
    for (int i = 0; i < 3; i++) p[g] = g + i;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_GLOBAL_MEM_FENCE);
    read_mem_fence(CLK_GLOBAL_MEM_FENCE);
    o[g] += p[first + (l + 1) % get_local_size(0)];
}
