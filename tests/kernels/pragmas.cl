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
