void put(__global int *p) { *p = 1; }
__kernel void f(__global const int *a) { put(a); }
