__kernel void f(__global int *a, int n) {
  int x = n + 1
  a[0] = x;
}
