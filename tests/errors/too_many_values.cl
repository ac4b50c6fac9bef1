__constant int t[2] = {1, 2, 3};
__kernel void f(__global int *a) { int m[2][2] = {{1, 2, 3}, {4}}; a[0] = t[0] + m[0][0]; }
