// Barriers that some work-items of a group do not reach, as ids and constants say, or of which no run beforehand could tell: errors.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void some(__global int *restrict a) {
    if (get_local_id(0) < 16)
        barrier(CLK_GLOBAL_MEM_FENCE);
    for (int i = get_local_id(0); i < 1000; i += 64) {
        a[i] += i;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (atomic_inc(a) < 64)
        barrier(CLK_GLOBAL_MEM_FENCE);
    a[get_global_id(0)] = 1;
}
