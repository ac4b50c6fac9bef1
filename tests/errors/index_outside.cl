__kernel void f(__global int *a) {
  int t[4] = {0};
  a[0] = t[5];
}
