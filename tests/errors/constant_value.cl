__constant int n;
__constant float table[2] = {1.0f, later};
int counter = 0;
__kernel void f(__global int *a) { a[0] = 1; }
