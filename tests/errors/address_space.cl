void put(int *p) { *p = 1; }
__kernel void f(__global int *a, __constant int *c) {
  int x = 0;
  __global int *p = &x;
  put(a);
  p = c;
  a[0] = x;
}
