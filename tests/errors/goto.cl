__kernel void f(__global int *a, int n) {
again:
  a[0]++;
  if (a[0] < n) goto again;
}
