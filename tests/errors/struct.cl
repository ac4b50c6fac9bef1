struct point { int x, y; };
__kernel void f(__global int *a) { a[0] = 1; }
