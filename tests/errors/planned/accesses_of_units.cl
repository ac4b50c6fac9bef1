__attribute__((num_compute_units(100)))
__kernel void k(__global int *restrict a, __global int *restrict b, int n)
{
    a[get_global_id(0) * n] = b[get_global_id(0) * n] + a[n];
}
