__constant int table[3] = {1, 2, 3};
__kernel void f(__global const int *a, __global int *b, const int n) {
  a[0] = 1;
  table[1] = 4;
  n = 2;
  b[0] = table[0];
}
