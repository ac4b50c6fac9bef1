/* Loads of what earlier iterations stored a moment ago. `n` is at most 64, indices are below 64, `a` has 160 elements. */
#define ARGS __global int *restrict a, __global const int *restrict at, int n

__kernel void bins(ARGS) {
  for (int i = 0; i < n; i++) a[at[i]] += i;
}

__kernel void rows(ARGS) {
  for (int k = 0; k < 6; k++)
    for (int j = 0; j < n; j++) a[j] += at[k] * at[j];
}

__kernel void at_a_distance(ARGS) {
  int d = at[0] + 1;
  for (int i = 0; i < n; i++) a[i + d] = a[i] * 3 + at[i];
}

__kernel void relax(ARGS) {
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < n; i++) {
      int reached = a[at[i]] + at[n - 1 - i];
      int to = at[(i * 7) & 63];
      if (reached < a[to]) a[to] = reached;
    }
}

__kernel void pairs(ARGS) {
  for (int i = 0; i < n; i++) {
    int u = at[i], v = at[63 - i];
    if ((a[u] & 1) && (a[v] & 2)) {
      a[u] = v + i;
      a[v] = u - i;
    }
  }
}

__kernel void swap(ARGS) {
  for (int i = 0; i < n; i++) {
    int p = at[i], q = at[(i * 5 + 1) & 63];
    int x = a[p], y = a[q];
    a[p] = y;
    a[q] = x + 1;
  }
}

__kernel void only_some(ARGS) {
  for (int i = 0; i < n; i++)
    if (at[i] > 20) a[at[i]] = a[at[i] >> 1] + i;
}

__kernel void two_stores_one_load(ARGS) {
  for (int i = 0; i < n; i++) {
    int v = a[at[i]];
    a[at[63 - i]] = v + i;
    if (at[i] & 1) a[at[i] ^ 1] = i;
  }
}

__kernel void halves(__global int *restrict a, __global const int *restrict at, int n) {
  __global short *b = (__global short *)a;
  for (int i = 0; i < n; i++) b[at[i]] += (short)at[63 - i];
}

__kernel void float_sums(__global int *restrict a, __global const int *restrict at, int n) {
  __global float *f = (__global float *)a;
  for (int i = 0; i < n; i++) f[at[i]] = f[at[i]] * 0.5f + (float)i;
}

__kernel void scaled_rows(ARGS) {
  for (int r = 0; r < 3; r++) {
    for (int j = 0; j < n; j++) a[j] = a[j] * 3 + r;
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < n; j++) a[j] += at[k] * at[j];
  }
}
