int twice(int x) { return 2 * x; }
__kernel void f(__global int *a) { a[0] = twice; }
