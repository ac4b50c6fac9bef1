/* Values that go from one access to a later one without a way through memory. `n` is at most 64, buffers have 160 elements. */
#define ARGS __global int *restrict a, __global const int *restrict b, int n
#define FLOATS __global float *restrict x, __global const float *restrict y, int n

__kernel void scan(ARGS) {
  for (int i = 0; i < n; i++) a[i + 1] = a[i] + b[i];
}

__kernel void filter(FLOATS) {
  for (int i = 0; i < n; i++) x[i + 8] = x[i] * 0.5f + y[i];
}

__kernel void total(ARGS) {
  for (int i = 0; i < n; i++) a[3] += b[i];
}

__kernel void total_of_some(ARGS) {
  for (int i = 0; i < n; i++)
    if (b[i] & 1) a[n] += b[i];
}

__kernel void row_sums(FLOATS) {
  for (int i = 0; i < n / 4; i++)
    for (int j = 0; j < (i & 7); j++) x[i] += y[i + j];
}

__kernel void maybe_shared(__global int *a, __global int *b, int n) {
  for (int i = 0; i < n; i++) a[0] = a[0] * 3 + b[i];
}

__kernel void two_steps_back(ARGS) {
  for (int i = 0; i < n; i++) a[i + 2] = a[i] - a[i + 1] * 3 + b[i];
}

__kernel void in_one_iteration(ARGS) {
  for (int i = 0; i < n; i++) {
    int p = b[i] & 63;
    a[p] = i;
    if (b[i] & 1) a[p] += 7;
    a[i + 80] = a[p] ^ b[i];
  }
}

__kernel void four_copies(ARGS) {
  #pragma unroll 4
  for (int i = 0; i < n; i++) a[i + 1] = a[i] + b[i];
}

__kernel void line_of_floats(FLOATS) {
  float line[200];
  line[0] = 1.0f;
  for (int i = 0; i < n; i++) line[i + 1] = line[i] * 0.5f + y[i];
  for (int i = 0; i < n; i++) x[i] = line[i + 1];
}

__kernel void until_large(ARGS) {
  for (int i = 0; i < n; i++) {
    a[i + 1] = a[i] + b[i];
    if (b[i] == 17) break;
  }
}

__kernel void compared(ARGS) {
  for (int i = 0; i < n; i++) {
    int p = b[i] & 31;
    if (b[i] & 1) a[p] = i;
    a[b[(i * 5) & 63] & 31] += a[p] + 1;
  }
}

/* A part of what is stored as a whole, and a byte of it. */
__kernel void parts(ARGS) {
  __global int2 *pairs = (__global int2 *)a;
  for (int i = 0; i < n; i++) {
    pairs[i + 1] = (int2)(a[2 * i] + b[i], i);
    a[2 * i + 3] ^= ((__global uchar *)a)[8 * i + 9];
  }
}
