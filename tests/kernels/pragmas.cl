/* What the source asks of loops; at most 64 elements. */
#define ARGS __global int *restrict a, __global const int *restrict b, int n

__kernel void promised(ARGS) {
  #pragma ivdep
  for (int i = 0; i < n; i++) {
    int v = a[i];
    if (v > 10) a[(v & 7) * 0 + i] = v - 3;
  }
}

__kernel void promised_for_some(ARGS) {
  #pragma ivdep array(a) safelen(8)
  for (int i = 0; i < n - 8; i++) a[i + 8 + (b[i] & 0)] = a[i] + 1;
}

__kernel void slower(ARGS) {
  #pragma ii 4
  for (int i = 0; i < n; i++) a[i] = b[i] + 1;
}

__kernel void two_at_a_time(ARGS) {
  #pragma max_concurrency 2
  for (int i = 0; i < 8; i++) {
    int s = 1;
    #pragma max_interleaving 1
    for (int j = 0; j < n / 8; j++) s = s * 31 / (b[i * 8 + j] | 1);
    a[i] = s;
  }
}

__kernel void one_after_the_other(ARGS) {
  #pragma disable_loop_pipelining
  for (int i = 0; i < n; i++) a[i] = b[i] * 3;
}

__kernel void without_speculation(ARGS) {
  int i = 0;
  #pragma speculated_iterations 0
  while (i < n && b[i] < 60) i++;
  a[0] = i;
}

__kernel void far_apart(ARGS) {
  for (int i = 0; i < 4; i++) {
    float s = i;
    #pragma ii 70
    for (int j = 0; j < n / 16; j++) s = s * 0.5f + b[i * 4 + j];
    a[i] = s;
  }
}

__kernel void far_ahead(ARGS) {
  int i = 0;
  #pragma ii 90
  while (i < n / 8 && b[i] < 50) i++;
  a[0] = i;
}

__kernel void one_loop(ARGS) {
  int s = 3;
  #pragma loop_coalesce
  for (int i = 0; i < n / 8; i++) {
    int limit = b[i] & 7;
    for (int j = 0; j < limit; j++) {
      s ^= b[i * 8 + j];
      a[i * 8 + j] += s;
    }
    a[i] -= limit;
  }
  a[64] = s;
}

__kernel void one_of_three(ARGS) {
  #pragma loop_coalesce
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n / 16; j++)
      for (int k = 0; k < 5; k++) a[(i * 4 + j) * 5 + k] = b[k] + i + j;
}

__kernel void in_step(ARGS) {
  int s = 0;
  #pragma loop_fuse
  {
    for (int i = 0; i < n; i++) a[i] = b[i] * 3;
    for (int j = 0; j < n / 2; j++) s += a[j] ^ j;
  }
  a[70] = s;
}

__kernel void both_in_step(ARGS) {
  #pragma loop_fuse depth(2)
  {
    for (int i = 0; i < n / 8; i++) for (int j = 0; j < 8; j++) a[i * 8 + j] = b[j] + i;
    for (int i = 0; i < n / 8; i++) for (int j = 0; j < 8; j++) a[i * 8 + j] *= b[i] | 1;
  }
}

__kernel void one_ahead(ARGS) {
  int i = 0;
  #pragma speculated_iterations 1
  while (i < n && b[i] < 55) { a[i] = i; i++; }
  a[70] = i;
}

__kernel void few_ahead(ARGS) {
  for (int k = 0; k < 3; k++) {
    int i = k;
    #pragma speculated_iterations 5
    #pragma max_interleaving 1
    do a[i] ^= 5 + k; while (b[i++] < 55 && i < n);
    a[70 + k] = i;
  }
}
