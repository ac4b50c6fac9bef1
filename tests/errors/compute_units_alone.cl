__attribute__((num_compute_units(2, 2))) __kernel void alone(__global int *restrict a) { a[0] = 1; }
