/* Arrays that begin anew in each iteration of an outer loop. `n` is at most 16. */
#define ARGS __global const int *restrict a, __global int *restrict out, int n

__kernel void reversed(ARGS) {
  for (int r = 0; r < n; r++) {
    int t[64];
    for (int k = 0; k < 64; k++) t[k] = a[r * 64 + k] + r;
    for (int k = 0; k < 64; k++) out[r * 64 + k] = t[63 - k];
  }
}

__kernel void of_the_guide(ARGS) {  // indices from memory
  for (int r = 1; r < n; r++) {
    int t[64];
    for (int k = 0; k < 64; k++) t[k] = a[a[r * 64 + k] & 1023];
    for (int k = 0; k < 64; k++) out[a[1023 - k] & 1023] = t[k] + r;
  }
}

__kernel void as_asked(ARGS) {
  for (int r = 0; r < n; r++) {
    int t[64] __attribute__((private_copies(3)));
    for (int k = 0; k < 64; k++) t[a[r * 64 + k] & 63] = k;
    for (int k = 0; k < 64; k++) t[k ^ 1] = r;
    for (int k = 0; k < 64; k++) out[r * 64 + k] = t[a[k] & 63];
  }
}

__kernel void cleared_and_filled(ARGS) {  // stores of two loops: each copy is a memory
  for (int r = 0; r < n; r++) {
    int t[128];
    for (int k = 0; k < 128; k++) t[k] = -k;
    for (int k = 0; k < 64; k++) t[a[r * 64 + k] & 127] = a[k] + r;
    for (int k = 0; k < 64; k++) out[r * 64 + k] = t[k] + t[127 - k];
  }
}

__kernel void counts(ARGS) {  // a load that must see what its own loop stores, while another clears the next copy
  for (int r = 0; r < n; r++) {
    int t[64];
    for (int k = 0; k < 64; k++) t[k] = 0;
    for (int k = 0; k < 64; k++) t[a[r * 64 + k] & 31]++;
    for (int k = 0; k < 64; k++) out[r * 64 + k] = t[k];
  }
}

__kernel void sometimes(ARGS) {  // some iterations have none, others trips that nobody knows
  for (int r = 0; r < n; r++) {
    if (a[r] & 1) {
      int t[100], m = a[r] & 63;
      for (int k = 0; k <= m; k++) t[k] = a[r * 64 + k];
      for (int k = 0; k <= m; k++) out[r * 64 + k] = t[m - k] * 3;
    } else out[r * 64] = r;
  }
}

__kernel void nested(ARGS) {  // the counter begins again for each of the outer loop's iterations
  for (int o = 0; o < 2; o++)
    for (int r = 0; r < n; r++) {
      int t[64];
      for (int k = 0; k < 64; k++) t[k] = a[(r * 64 + k) ^ o];
      int s = 0;
      for (int k = 0; k < 64; k++) s += t[k] * (t[63 - k] & 7);
      out[o * 16 + r] = s;
    }
}

__kernel void until(ARGS) {  // ends by what it reads
  int r = 0;
  while (a[r] != 0 && r < n) {
    int t[64], p = 0;
    for (int k = 0; k < 64; k++) t[k] = a[r * 64 + k];
    for (int k = 0; k < 20; k++) p = t[(p + k) & 63];
    out[r++] = p;
  }
}

__kernel void kept(ARGS) {  // holds what earlier iterations stored: no copies
  int t[64];
  for (int k = 0; k < 64; k++) t[k] = k;
  for (int r = 0; r < n; r++) {
    for (int k = 0; k < 64; k++) t[k] = t[63 - k] + a[r * 64 + k];
    for (int k = 0; k < 64; k++) out[r * 64 + k] = t[k];
  }
}

__kernel void recurrent(ARGS) {  // an element waits for the one before: iterations take turns, one for each copy
  for (int r = 0; r < n; r++) {
    int t[64], s = r;
    for (int k = 0; k < 64; k++) {
      s = s * (a[r * 64 + k] | 1) + 3;
      t[k] = s;
    }
    for (int k = 0; k < 64; k++) out[r * 64 + k] = t[63 - k];
  }
}

__kernel void large(ARGS) {  // a copy has 16 KiB: two of them, no more
  for (int r = 0; r < n; r++) {
    int t[4096];
    for (int k = 0; k < 64; k++) t[k * 64 + r] = a[r * 64 + k];
    for (int k = 0; k < 64; k++) out[r * 64 + k] = t[(63 - k) * 64 + r];
  }
}

__kernel void last_chunk_shorter(ARGS) {  // in place: no chunk waits for the one before
  for (int i = 0; i < n * 61; i += 64) {
    int t[64], m = 64;
    if (i + 64 > n * 61) m = n * 61 - i;
    for (int k = 0; k < m; k++) t[k] = out[i + k];
    for (int k = 0; k < m; k++) out[i + k] = t[m - 1 - k] + a[i + k];
  }
}

__kernel void least_of_two(ARGS) {
  int t[64];
  for (int i = 0; i < n * 61; i += 64) {
    int m = min(64, n * 61 - i);
    for (int k = 0; k < m; k++) t[k] = out[i + k] * 3;
    for (int k = 0; k < m; k++) { t[k] += a[i + k]; out[i + k] = t[k]; }
  }
}

__kernel void until_both_end(ARGS) {  // a condition of two sums, in stages
  int t[64];
  for (int i = 0; i < n * 61; i += 64) {
    for (int k = 0; k < 64 && i + k < n * 61; k++) t[k] = out[i + k] ^ i;
    for (int k = 0; k < 64 && i + k < n * 61; k++) out[i + k] = t[k] + a[i + k];
  }
}

__kernel void asserted(ARGS) {  // of an array that each iteration declares, ivdep asserts nothing
#pragma ivdep
  for (int r = 0; r < n; r++) {
    int t[64] __attribute__((private_copies(1)));
    for (int k = 0; k < 64; k++) t[k] = a[r * 64 + k];
    for (int k = 0; k < 64; k++) out[r * 64 + k] = t[63 - k];
  }
}
