__kernel void f(__global int *a, int n) {
  int tmp[n];
  tmp[0] = 1;
  a[0] = tmp[0];
}
