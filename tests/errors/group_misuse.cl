__kernel void k(__global int *a, __global float *f, __global const int *r, __global long *w, int n) {
    __local int t[8] = { 1 };
    __local int u[8];
    int p[4];
    barrier(n);
    barrier();
    barrier(9);
    atomic_add(a[0], 1);
    atomic_add(f, 1.0f);
    atomic_add(w, 1);
    atom_add(w, 1);
    atomic_inc(&p[0]);
    atomic_max(r, 3);
    atomic_cmpxchg(a, 1);
    event_t e = async_work_group_copy(u, p, 4, 0);
    e = async_work_group_copy(u, w, 4, 0);
    e = async_work_group_copy(r, u, 4, e);
    wait_group_events(1);
    mem_fence(CLK_LOCAL_MEM_FENCE, 1);
    __global int *q = u;
    if (n) { __local float hidden[2]; hidden[0] = 1; f[0] = hidden[0]; }
    __global int g;
    f[0] = work_group_reduce_add(1.0f) + sub_group_broadcast(f[1], 0);
    atomic_fetch_add(a, n);
    barrier(CLK_LOCAL_FENCE);
}
