__kernel __attribute__((feed_forward)) void k(__global int *restrict a, int step, int n) {
  for (int i = 0; i < n; i++) a[i * step] = a[i] + 1;
}
