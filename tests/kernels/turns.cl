// Loads that are made once for a loop, and stores of one iteration that take turns.
#define ARGS __global const int *restrict a, __global const int *restrict b, __global int *restrict out, \
             __global int *restrict more, int n

__kernel void bounds_in_memory(ARGS) {  // as in graphs: known before the first iteration
  for (int t = 0; t < n; t++) {
    if (b[t] & 1) {
      for (int i = a[t] & 15; i < (a[t] & 15) + (b[t] & 7); i++) {
        out[i] = more[63] + t;
        if (a[i] == t) break;
      }
      more[t] = t;
    }
  }
}

__kernel void one_bound(ARGS) {
  for (int i = 0; i < a[0]; i++) out[i] = b[i];
}

__kernel void scatter_in_turns(ARGS) {  // stores that may meet in one iteration, some of them under conditions
#pragma unroll 2
  for (int i = 0; i < n; i++) {
    out[a[i] & 15] = i;
    if (b[i] & 1)
      out[b[i] & 15] = -i;
    more[i] = a[i];
  }
}

__kernel void around_a_loop(ARGS) {  // one write port for stores before, in and behind a loop
  for (int t = 0; t < n; t++) {
    int w[64];
    w[0] = t;
    for (int k = 1; k < 64; k++) w[k] = a[k];
    w[15] = 7;
    out[t] = w[b[t] & 63] + w[(b[t] >> 2) & 15];
  }
}
