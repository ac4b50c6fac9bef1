__kernel void f(int *a) { a[0] = 1; }
