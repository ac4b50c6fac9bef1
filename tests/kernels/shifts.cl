/* Shift registers in registers and in block RAM. `n` is at most 300, buffers have 320 elements. */
#define ARGS __global const int *restrict a, __global int *restrict out, int n

__kernel void delay(ARGS) {
  int sr[130];
  for (int k = 0; k < 130; k++) sr[k] = -1;
  for (int i = 0; i < n; i++) {
    #pragma unroll
    for (int k = 129; k > 0; k--) sr[k] = sr[k - 1];
    sr[0] = a[i];
    out[i] = sr[129] + sr[64] * 3 - sr[65];
  }
}

__kernel void now_and_then(ARGS) {
  int sr[100];
  for (int k = 0; k < 100; k++) sr[k] = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] & 1) {
      for (int k = 0; k < 99; k++) sr[k] = sr[k + 1];
      sr[99] = a[i];
    }
    out[i] = sr[0] + sr[50];
  }
}

__kernel void tap_of_the_run(ARGS) {
  int sr[100];
  for (int k = 0; k < 100; k++) sr[k] = k;
  for (int i = 0; i < n; i++) {
    for (int k = 99; k > 0; k--) sr[k] = sr[k - 1];
    sr[0] = a[i];
    out[i] = sr[a[i] & 63] + sr[99];
  }
}

__kernel void now_and_then_any_tap(ARGS) {
  int sr[64];
  for (int k = 0; k < 64; k++) sr[k] = 5;
  for (int i = 0; i < n; i++) {
    if (a[i] & 2) {
      for (int k = 63; k > 0; k--) sr[k] = sr[k - 1];
      sr[0] = a[i] * 3;
    }
    out[i] = sr[a[i] & 63];
  }
}

__kernel void feedback(__global const float *restrict x, __global float *restrict y, int n) {
  float sr[50];
  for (int k = 0; k < 50; k++) sr[k] = 0.0f;
  for (int i = 0; i < n; i++) {
    sr[49] = sr[0] * 0.5f + x[i];
    for (int k = 0; k < 49; k++) sr[k] = sr[k + 1];
    y[i] = sr[49];
  }
}

__kernel void restarted(ARGS) {
  for (int r = 0; r < 3; r++) {
    int sr[40];
    for (int k = 0; k < 40; k++) sr[k] = r;
    for (int i = 0; i < n / 3; i++) {
      for (int k = 39; k > 0; k--) sr[k] = sr[k - 1];
      sr[0] = a[i + r];
      out[i] += sr[39];
    }
  }
}

__kernel void two_in_one(ARGS) {
  int sr[80];
  for (int k = 0; k < 80; k++) sr[k] = 0;
  #pragma unroll 2
  for (int i = 0; i < n; i++) {
    for (int k = 79; k > 0; k--) sr[k] = sr[k - 1];
    sr[0] = a[i];
    out[i] = sr[79];
  }
}
