__kernel __attribute__((feed_forward(memory(0), compute(8)))) void k(__global const double *restrict a,
                                                                     __global double *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    double x = a[i];
    out[i] = x / (x + 1) / (x + 2) / (x + 3) / (x + 4) / (x + 5) / (x + 6);
  }
}
