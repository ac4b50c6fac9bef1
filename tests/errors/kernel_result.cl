__kernel int f(__global int *a) { return a[0]; }
