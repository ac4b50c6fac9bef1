// Values that one iteration leaves to another. Every kernel: 64 elements in, 64 out.
#define ARGS __global const int *restrict a, __global int *restrict out, int n

__kernel void in_level_0(ARGS) {
  int s = 0, t = 1;
  for (int i = 0; i < n; i++) {
    s = s * 3 + i;
    t ^= s;
  }
  out[0] = s + t;
}

__kernel void in_later_level(ARGS) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s = s * 5 + a[i];
    out[i] = s;
  }
}

__kernel void across_a_load(ARGS) {  // the next address is in memory
  int p = n & 63;
  for (int i = 0; i < n; i++) {
    p = a[p & 63] + i;
    out[i] = p;
  }
}

__kernel void across_two_loads(ARGS) {
  int p = 1;
  for (int i = 0; i < n; i++) p = a[a[p & 63] & 63] ^ i;
  out[0] = p;
}

__kernel void across_an_inner_loop(ARGS) {
  int s = 1;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < (s & 3); j++) s += j * i + 1;
    s ^= i;
    out[i] = s;
  }
}

__kernel void across_a_loop_and_a_load(ARGS) {
  int s = 1;
  for (int i = 0; i < n; i++) {
    int t = s;
    for (int j = 0; j < (i & 3); j++) t = a[(t + j) & 63];
    s = a[(t ^ s) & 63] + t;
  }
  out[0] = s;
}

__kernel void swap(ARGS) {
  int x = 1, y = 2, z = 3;
  for (int i = 0; i < n; i++) {
    int t = x;
    x = y + i;
    y = z;
    z = t;
  }
  out[0] = x; out[1] = y; out[2] = z;
}

__kernel void swap_in_later_level(ARGS) {
  int x = 1, y = 2;
  for (int i = 0; i < n; i++) {
    int t = x;
    x = y + a[i];
    y = t;
    out[i] = x - y;
  }
}

__kernel void fibonacci(ARGS) {
  uint x = 0, y = 1;
  for (int i = 0; i < n; i++) {
    uint t = x + y;
    x = y;
    y = t;
    out[i] = x;
  }
}

__kernel void delay_line(ARGS) {
  int d[5] = {1, 2, 3, 4, 5};
  for (int i = 0; i < n; i++) {
    out[i] = d[4] * 2 + d[1];
    #pragma unroll
    for (int k = 4; k > 0; k--) d[k] = d[k - 1];
    d[0] = a[i];
  }
}

__kernel void window_inside(ARGS) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    int d[3] = {i, 0, 0};
    for (int j = 0; j < (i & 7); j++) {
      total += d[2];
      d[2] = d[1];
      d[1] = d[0];
      d[0] = a[j];
    }
    out[i] = total;
  }
}

__kernel void dynamic_array(ARGS) {
  __attribute__((register)) int d[8] = {0};
  for (int i = 0; i < n; i++) d[a[i] & 7] += i + 1;
  for (int i = 0; i < 8; i++) out[i] = d[i];
}

__kernel void read_late_written_early(ARGS) {  // used behind the load, known before it
  int k = 7;
  for (int i = 0; i < n; i++) {
    out[i] = a[i] * k;
    k = k * 3 + i;
  }
}

__kernel void written_late_read_late(ARGS) {
  int best = -1, at = -1;
  for (int i = 0; i < n; i++) {
    int x = a[i];
    if (x > best) {
      best = x;
      at = i;
    }
  }
  out[0] = best;
  out[1] = at;
}

__kernel void interleaved_sums(__global const float *restrict f, __global float *restrict sums, int n) {
  for (int i = 0; i < n; i++) {
    float s = 0.0f;
    for (int j = 0; j < 16; j++) s += f[(i + j) & 63];
    sums[i] = s;
  }
}

__kernel void rows_in_turns(__global const float *restrict f, __global float *restrict sums, int n) {
  int rows = n / 5;  // they are interleaved, and each stores to another word than the one before
  for (int i = 0; i < rows; i++) {
    float s = 0.0f;
    for (int j = 0; j < rows; j++) {
      s = f[i * rows + j] + 0.5f * s;
      sums[i * rows + j] = s;
    }
  }
}

__kernel void triangular_sums(__global const float *restrict f, __global float *restrict sums, int n) {
  for (int i = 0; i < n; i++) {
    float s = 1.0f;
    for (int j = 0; j <= i; j++) s = s * 0.5f + f[j];
    sums[i] = s;
  }
}

__kernel void horner_divergent(__global const float *restrict f, __global float *restrict sums, int n) {
  for (int i = 0; i < n; i++) {
    float s = f[i];
    int trips = (i * 7) & 15;
    for (int j = 0; j < trips; j++) s = s / 1.5f + (float)j;
    sums[i] = s;
  }
}

__kernel void slots_and_chase(ARGS) {  // several invocations, each chasing through memory
  for (int i = 0; i < n; i++) {
    int p = i;
    for (int j = 0; j < (i & 7); j++) p = a[p & 63] + j;
    out[i] = p;
  }
}

__kernel void deep_carried(ARGS) {
  int s = 0;
  for (int i = 0; i < (n & 7); i++) {
    int t = s;
    for (int j = 0; j < 3; j++) {
      for (int k = j; k < 3; k++) t += s ^ k;
      s += t;
    }
    out[i] = s - t;
  }
}

__kernel void across_a_second_load(ARGS) {  // read behind one load, written behind another
  for (int i = 0; i < n; i++) {
    int s = i;
    for (int j = 0; j < (i & 7); j++) s = a[a[j] < s ? j + 3 : i & 31] - i;
    out[i] = s;
  }
}

__kernel void slow_in_level_0(__global const float *restrict f, __global float *restrict sums, int n) {
  for (int i = 0; i < n; i++) {
    float s = f[i];
    for (int j = 0; j < (i & 7); j++) s = s / 1.5f + (float)(j + i);
    sums[i] = s;
  }
}

__kernel void digest(ARGS) {  // what was computed in iterations before is added first
  uint p = 1, q = 2, r = 3, s = 4, t = 5;
  for (int i = 0; i < n; i++) {
    uint sum = (p << 5 | p >> 27) + (q & r | ~q & s) + t + a[i] - (s ^ 0x5a827999);
    t = s; s = r; r = q << 30 | q >> 2; q = p; p = sum;
    out[i] = sum;
  }
  out[63] = p ^ q ^ r ^ s ^ t;
}

__kernel void extremes(__global const float *restrict f, __global float *restrict sums, int n) {  // a comparison and a choice in a cycle
  float least = f[0], most = -INFINITY;
  int where = 0;
  for (int i = 0; i < n; i++) {
    float t = f[i] < -7 ? -0.0f : f[i] > 15 ? NAN : f[i];
    if (t <= least && i % 3) {
      least = t;
      where = i;
    }
    most = fmax(most, t);
  }
  sums[0] = least;
  sums[1] = most;
  sums[2] = where;
}

__kernel void three_wheels(ARGS) {  // each counter steps when the one before wraps around
  int x = 0, y = 0, z = 0;
  for (int i = 0; i < n; i++) {
    out[i] = a[(x + 2 * y + 5 * z) & 63];
    if (++x == n - 38) {
      x = 0;
      if (++y == n - 37) {
        y = 0;
        if (++z == n - 38) z = 0;
      }
    }
  }
}

__kernel void short_counter(ARGS) {  // compared with a number of more bits, which it may never reach
  ushort c = 0;
  short d = 0;
  for (int i = 0; i < n; i++) {
    out[i] = a[i] + c * 64 + d;
    if (c == a[0] % 7) c = 0; else c++;
    if (++d == n - 43) d = 3;
  }
}

// scheduled for another clock than the kernels beside it: other cuts of the same arithmetic parts
__attribute__((scheduler_target_fmax_mhz(320)))
__kernel void faster(__global const float *restrict f, __global float *restrict sums, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s = s * 0.5f + f[i];
  sums[0] = s;
}
