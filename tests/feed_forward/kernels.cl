#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int passed __attribute__((depth(4)));

__kernel __attribute__((feed_forward)) void least(__global const int *restrict row,
                                                  __global const int *restrict column,
                                                  __global const int *restrict value, __global int *restrict out,
                                                  int n) {
  if (n < 0) return;
  for (int i = 0; i < n; i++) {
    int least = 1 << 30;
    for (int e = row[i]; e < row[i + 1]; e++)
      if (value[column[e]] < least) least = value[column[e]];
    out[i] = least;
  }
}

__kernel __attribute__((feed_forward)) void in_place(__global int *restrict a, __global const int *restrict at,
                                                     int n) {
  for (int i = 0; i < n; i++)
    if (at[i] & 1) a[i] = 3 * a[i] + at[i];
}

__kernel __attribute__((feed_forward)) void items(__global const int *restrict a, __global const int *restrict at,
                                                  __global int *restrict out) {
  int i = get_global_id(0);
  out[i] = a[at[i] & 31] + get_local_size(0);
}

__kernel __attribute__((feed_forward)) void sums(__global const int *restrict row, __global const float *restrict v,
                                                 __global float *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    float sum = 0.0f;
    for (int e = row[i]; e < row[i + 1]; e++) sum += v[e];
    out[i] = sum;
  }
}

__kernel __attribute__((feed_forward)) void pass_on(__global const int *restrict a, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += a[i];
  write_channel_intel(passed, sum);
}

__kernel void collect(__global int *restrict out) { out[0] = read_channel_intel(passed); }

// the element before is a carried value, and that above is loaded: what is received orders neither
__kernel __attribute__((feed_forward)) void above(__global int *restrict a, __global const int *restrict b, int n) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
      int at = i * n + j;
      a[at] = max(a[at - 1] - 1, a[at - n] + b[at]);
    }
}
