__kernel void f(__global int *a, int n) {
again:
  a[0] = n--;
  if (n > 0) goto again;
  if (n < 0) goto inside;
  for (int i = 0; i < n; i++) {
  inside:
    a[i] = 0;
  }
  goto nowhere;
}
