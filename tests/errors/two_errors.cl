__kernel void f(__global int *a, int n) {
  image2d_t x = 1.0f;
  a[0] = x + 1;
  a[1] = b;
  for (int i = 0; i < m; i++) a[i] = undefined;
}
