__kernel __attribute__((feed_forward(memory(0), compute(2)))) void least(__global const int *restrict row,
                                                                         __global const int *restrict column,
                                                                         __global const int *restrict value,
                                                                         __global int *restrict out,
                                                                         __global int *restrict again, int n) {
  for (int i = 0; i < n; i++) {
    int least = 1 << 30;
    for (int e = row[i]; e < row[i + 1]; e++)
      if (value[column[e]] < least) least = value[column[e]];
    if (least < 500) *again = 1;
    out[i] = least;
  }
}

__kernel __attribute__((feed_forward(memory(0), compute(3)))) void strided(__global int *restrict a, int from, int n) {
  if (n < 0) return;
  for (int i = from; i <= n; i += 3) a[i] = 5 * a[i] + i;
}

__kernel __attribute__((feed_forward(memory(2), compute(2)))) void rows(__global const int *restrict row,
                                                                        __global const int *restrict column,
                                                                        __global const int *restrict value,
                                                                        __global int *restrict out,
                                                                        __global int *restrict sums, int n) {
  int sum = 3, best = 1 << 29;
  for (int i = 0; i < n; i++) {
    int least = 1 << 30;
    for (int e = row[i]; e < row[i + 1]; e++)
      if (value[column[e]] < least) least = value[column[e]];
    out[i] = least;
    sum += least;
    best = min(best, least);
  }
  if (n < 0) return;
  sums[0] = sum;
  sums[1] = best;
}

__kernel void marked(__global const int *restrict row, __global const int *restrict column, __global int *restrict out,
                     int n) {
  int offset = 0;
  for (int i = 0; i < n; i++) offset ^= column[i];
  #pragma feed_forward
  for (int i = 0; i < n; i++) out[i] = row[column[i] & 31] + offset;
}

__kernel __attribute__((feed_forward(memory(0), compute(2), silent_stores))) void paths(__global int *restrict d, int n,
                                                                                       int k) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
