__kernel void f(__global int **a) { a[0][0] = 1; }
