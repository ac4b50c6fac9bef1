__kernel void f(__global int *a) { a[get_globl_id(0)] = compute(1); }
