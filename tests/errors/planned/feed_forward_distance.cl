__kernel __attribute__((feed_forward)) void k(__global int *restrict a, int n) {
  for (int i = 3; i < n; i++) a[i] = a[i - 3] + 1;
}
