// Control flow. Every kernel: 64 elements in, 64 out, n the size of the problem (0 included).
#define ARGS __global const int *restrict a, __global int *restrict out, int n

__kernel void copy(ARGS) {
  for (int i = 0; i < n; i++) out[i] = a[i];
}

__kernel void straight(ARGS) {
  out[3] = a[5] + n;
}

__kernel void constant_zero_trips(ARGS) {
  int s = 7;
  for (int i = 0; i < 0; i++) s += a[i];
  for (int i = 5; i < 5; i++) out[i] = 1;
  out[0] = s;
}

__kernel void inner_zero_trips(ARGS) {
  for (int i = 0; i < n; i++) {
    int s = i;
    for (int j = 0; j < (a[i] & 3) - 1; j++) s += a[j] ^ i;
    out[i] = s;
  }
}

__kernel void middle_zero_trips(ARGS) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j < (i & 3); j++)
      for (int k = 0; k < ((i + j) & 1) * 3; k++) s += a[k] + j;
    out[i] = s;
  }
}

__kernel void depth4(ARGS) {
  int s = 1;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 4; j++)
      for (int k = 0; k < (n & 3); k++)
        for (int l = 0; l <= k; l++) s = s * 5 + (i ^ j) + k * l + a[i + j + k + l];
  out[0] = s;
}

__kernel void triangular(ARGS) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int j = 0; j <= i; j++) s += a[j] * (i - j);
    out[i] = s;
  }
}

__kernel void divergent(ARGS) {
  for (int i = 0; i < n; i++) {
    int s = a[i];
    for (int j = 0; j < (a[i] & 15); j++) s = s * 3 + j;
    out[i] = s;
  }
}

__kernel void both_branches(ARGS) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    if (a[i] & 1) {
      for (int j = 0; j < (a[i] & 7); j++) s += j * i;
    } else {
      for (int j = 0; j < (a[i] >> 1 & 3); j++) s -= a[j];
    }
    out[i] = s;
  }
}

__kernel void loop_after_loop(ARGS) {
  int s = 0, p = 1;
  for (int i = 0; i < n; i++) s += a[i];
  for (int i = 0; i < (s & 7); i++) p = p * 3 + i;
  for (int i = 0; i < n; i++) out[i] = p + i;
}

__kernel void loops_in_sequence_inside(ARGS) {
  for (int i = 0; i < n; i++) {
    int s = 0, t = 0;
    for (int j = 0; j < (i & 3); j++) s += a[j];
    for (int j = 0; j < (s & 5); j++) t ^= s + j;
    out[i] = s - t;
  }
}

__kernel void while_loop(ARGS) {
  int i = n, k = 0;
  while (i > 0) {
    i = i - 1 - (i & 1);
    k++;
  }
  out[0] = k;
}

__kernel void do_loop(ARGS) {
  int i = 0;
  do {
    out[i] = a[i] + 1;
    i++;
  } while (i < n);
}

__kernel void late_exit(ARGS) {  // the condition reads memory
  int i = 0;
  while (i < 64 && a[i] != n) i++;
  out[0] = i;
}

__kernel void late_exit_inside(ARGS) {
  for (int i = 0; i < n; i++) {
    int j = i, s = 0;
    while (j < 63 && (a[j] & 3) != 0) {
      s += a[j];
      j++;
    }
    out[i] = s * 64 + j;
  }
}

__kernel void break_and_continue(ARGS) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if ((i & 3) == 2) continue;
    s += i;
    if (s > 40) break;
    out[i] = s;
  }
  out[63] = s;
}

__kernel void break_on_data(ARGS) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    int x = a[i];
    if ((x & 15) == 3) break;
    if (x & 1) continue;
    s += x;
    out[i] = s;
  }
  out[63] = s;
}

__kernel void break_from_inner(ARGS) {
  for (int i = 0; i < n; i++) {
    int j;
    for (j = 0; j < 10; j++) {
      if (a[(i + j) & 63] % 5 == 0) break;
    }
    if (j == 10) continue;
    out[i] = j;
  }
}

__kernel void early_return(ARGS) {
  if (n == 5) {
    out[1] = 1;
    return;
  }
  for (int i = 0; i < n; i++) {
    if (a[i] % 7 == 0) return;
    out[i] = a[i];
  }
  out[62] = n;
}

int step(int x, int y) {
  if (x > y) return x - y;
  int s = 0;
  for (int k = 0; k < (x & 3); k++) s += y;
  return s;
}

__kernel void helper(ARGS) {
  for (int i = 0; i < n; i++) out[i] = step(a[i] & 31, i) + step(i, 4);
}

__kernel void switched(ARGS) {
  for (int i = 0; i < n; i++) {
    int r = 0;
    switch (a[i] & 3) {
      case 0: r = i;
      case 1: r += 3; break;
      case 2: for (int k = 0; k < (i & 3); k++) r += a[k]; break;
      default: r = -1;
    }
    out[i] = r;
  }
}

__kernel void collatz(ARGS) {
  for (int i = 0; i < n; i++) {
    uint v = i + 1;
    int steps = 0;
    while (v != 1) {
      v = v & 1 ? 3 * v + 1 : v >> 1;
      steps++;
    }
    out[i] = steps;
  }
}

__kernel void unrolled(ARGS) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    #pragma unroll
    for (int j = 0; j < 4; j++) s += a[(i + j) & 63] << j;
    #pragma unroll 3
    for (int j = 0; j < (i & 7); j++) s ^= j * 5;
    out[i] = s;
  }
}

// two sorted halves: what is read decides which word comes next
__kernel void merging(ARGS) {
  int i = 0, j = 32;
  for (int k = 0; k < n; k++) {
    int x = a[i & 31], y = a[j];
    out[k] = x <= y ? x : y;
    if (x <= y)
      i++;
    else
      j += j < 63;
  }
}
