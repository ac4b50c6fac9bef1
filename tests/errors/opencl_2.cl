__kernel void w(__global const int *a, __write_only pipe int p) {
    if (is_valid_reserve_id(0)) work_group_commit_write_pipe(p, 0);
    write_pipe(p, a);
}
__kernel void r(__global int *a, __read_only pipe int p) {
    read_pipe(p, reserve_read_pipe(p, 1), 0, a);
    enqueue_kernel(get_default_queue(), 0, 1, 0);
    a[0] = get_sub_group_id();
}
int ndrange_1D(int n) { return n; }
int is_the_users_own() { return ndrange_1D(3); }
