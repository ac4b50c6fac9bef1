__kernel __attribute__((feed_forward)) void k(volatile __global const int *a, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i];
}
