__kernel void f(__global int *a, int d) { a[get_global_id(d + 1)] = get_global_size(3); }
