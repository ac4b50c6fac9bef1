__kernel void f(__global int *a, int n) {
  n + 1 = 3;
  int t[3], u[3];
  t = u;
  a[0] = t[0];
}
