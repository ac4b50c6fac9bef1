__kernel void f(__global int *a, int n) {
  for (int i = 0; i < n; i++) {
    a[i] = i;
}
