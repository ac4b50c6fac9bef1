#else
__kernel void k(__global int *restrict a) { a[0] = 1; }
