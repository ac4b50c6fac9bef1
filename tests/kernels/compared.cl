/* Loops whose iterations would start several cycles apart in global memory on the chip, if they did not compare
   addresses. `n` is at most 64, `a` and `b` have 160 elements, `at` is below 64. */
#define ARGS __global float *restrict a, __global float *restrict b, __global const int *restrict at, int n

__kernel void sums(ARGS) {
  for (int i = 0; i < n; i++) a[at[i]] += b[i] * 0.5f;
}

__kernel void sums_of_rows(ARGS) {
  for (int r = 0; r < 4; r++)
    for (int i = r; i < n; i++) a[at[i]] += b[i];
}

__kernel void two_of_each(ARGS) {
  for (int i = 0; i < n; i++) {
    int p = at[i], q = 64 + at[n - 1 - i];
    float u = a[p] + b[i], v = a[q] - u;
    a[p] = v;
    a[q] = u;
  }
}

__kernel void under_a_condition(ARGS) {  // known only after the load
  for (int i = 0; i < n; i++) {
    float v = a[at[i]] * 0.75f;
    if (v < 20) a[at[i] ^ 1] = v + 1;
  }
}

__kernel void known_condition(ARGS) {
  for (int i = 0; i < n; i++)
    if (at[i] & 1) a[at[i] >> 1] = a[at[i]] * a[at[i] ^ 3] + 1;
}

__kernel void halves(ARGS) {  // as a transform in place
  for (int span = 32; span > 0; span >>= 1)
    for (int start = 0; start < n; start += 2 * span)
      for (int k = start; k < start + span; k++) {
        float u = a[k], v = a[k + span];
        a[k] = u + v;
        a[k + span] = (u - v) * b[k];
      }
}

__kernel void around_an_inner_loop(ARGS) {
  for (int i = 0; i < n; i++) {
    float sum = a[at[i]];
    for (int j = 0; j < (at[i] & 3); j++) sum += b[i + j];
    a[at[i]] = sum;
  }
}

__kernel void left_early(ARGS) {
  int last = -1;
  for (int i = 0; i < n; i++) {
    float v = a[at[i]];
    if (v > 55) break;
    a[at[i]] = v * 0.5f + b[i];
    last = i;
  }
  b[150] = last;
}

__kernel void distance_of_the_launch(ARGS) {
  int w = at[0];
  for (int i = 100; i >= 64; i--) a[i] = max(a[i], a[i - w] + b[i]);
}
