__kernel void f(__global int *a, __local int *tile) { a[0] = 1; }
