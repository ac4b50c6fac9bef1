__attribute__((num_compute_units(1000, 1000)))
__kernel void k(__global int *restrict a)
{
    a[get_global_id(0)] = 1;
}
