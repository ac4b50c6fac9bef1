__kernel void f(__global int *a) { atomic_add(&a[0], 1); }
