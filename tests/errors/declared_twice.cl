__kernel void f(__global int *a) {
  int x = 1;
  float x = 2;
  a[0] = x;
}
