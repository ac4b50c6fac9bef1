__kernel void f(__global int *a, int n) {
  double x = 1.0;
  a[0] = x + 1;
  a[1] = b;
  for (int i = 0; i < m; i++) a[i] = undefined;
}
