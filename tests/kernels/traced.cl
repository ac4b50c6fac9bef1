// Arrays whose indices are no sums of counters, but decided by counters with constant ends: iterations that never meet need not wait.
#define ARGS __global const float *restrict a, __global float *restrict out, int n
#define LOG 7
#define SIZE (1 << LOG)

__kernel void butterflies(ARGS) {  // fast transforms, one after the other, with pairs numbered through
  for (int t = 0; t < n; t++) {
    float x[SIZE];
    for (int i = 0; i < SIZE; i++) {
      int r = 0;
#pragma unroll
      for (int b = 0; b < LOG; b++) r |= (i >> b & 1) << (LOG - 1 - b);
      x[r] = a[t * SIZE + i];
    }
    for (int s = 0; s < LOG; s++)
      for (int k = 0; k < SIZE / 2; k++) {
        int low = k & ((1 << s) - 1), at = k >> s << (s + 1) | low;
        float u = x[at], v = x[at + (1 << s)] * a[low];
        x[at] = u + v;
        x[at + (1 << s)] = u - v;
      }
    for (int i = 0; i < SIZE; i++) out[t * SIZE + i] = x[i];
  }
}

__kernel void strides(ARGS) {  // the same by a counter that skips, in place for all times
  float x[SIZE];
  for (int i = 0; i < SIZE; i++) x[i] = a[i];
  for (int t = 0; t < n; t++)
    for (int span = SIZE / 2; span; span >>= 1)
      for (int odd = span; odd < SIZE; odd++) {
        odd |= span;
        int even = odd ^ span;
        float u = x[even];
        x[even] = u + x[odd];
        x[odd] = u - x[odd];
        if (even & 3) x[odd] = x[odd] * a[even];
      }
  for (int i = 0; i < SIZE; i++) out[i] = x[i];
}

__kernel void interleaved(ARGS) {  // a sum at each place of a permutation
  float x[64];
  for (int i = 0; i < 64; i++) x[i] = n;
  for (int t = 0; t < n; t++)
    for (int i = 0; i < 64; i++) {
      int at = i * (7 + 16 * i) & 63;
      x[at] = x[at] * 0.5f + a[t * 32 + i];
    }
  for (int i = 0; i < 64; i++) out[i] = x[i];
}

__kernel void met(ARGS) {  // no permutation: places come again after four iterations, sooner where something is added to them
  float x[64];
  for (int i = 0; i < 64; i++) x[i] = n;
  for (int i = 0; i < 64; i++) x[(i ^ 3) & 15] = x[i & 3] * 0.75f + a[i];
  for (int i = 0; i < 64; i++) x[(i * i + n) & 63] = x[i] + a[i];
  for (int i = 0; i < 64; i++) out[i] = x[i];
}

__kernel void left_early(ARGS) {  // the loop is left by what it reads
  float x[64];
  for (int i = 0; i < 64; i++) x[i] = i;
  for (int i = 0; i < 64; i++) {
    int at = i ^ (i >> 1);
    x[at] = x[at] * a[i] + 1;
    if (a[i] > 1.9f - n) break;
  }
  for (int i = 0; i < 64; i++) out[i] = x[i];
}
