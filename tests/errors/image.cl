__kernel void f(read_only image2d_t img, __global int *a) { a[0] = 1; }
