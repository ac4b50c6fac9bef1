__attribute__((reqd_work_group_size(64, 0)))
__kernel void f(__global int *a) { a[get_global_id(0)] = 1; }
