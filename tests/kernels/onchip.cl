/* Arrays that stay in block RAM: who writes, who reads, and who must wait. `n` is at most 64. */
#define ARGS __global const int *restrict a, __global int *restrict out, int n

__kernel void reversed(ARGS) {
  int line[1024];
  #pragma unroll 1
  for (int r = 0; r < 3; r++) {
    for (int i = 0; i < n; i++) line[i] = a[i] + r;
    for (int i = 0; i < n; i++) out[i] = line[n - 1 - i] * 3 + out[i];
  }
}

__kernel void histogram(ARGS) {
  int count[256];
  for (int i = 0; i < 256; i++) count[i] = 0;
  for (int i = 0; i < n; i++) count[(a[i] >> 3) & 255]++;
  for (int i = 0; i < 64; i++) out[i] = count[i];
}

__kernel void prefix(ARGS) {
  int sum[100];
  sum[0] = 1;
  for (int i = 0; i < n; i++) sum[i + 1] = sum[i] + a[i];
  for (int i = 0; i < n; i++) out[i] = sum[i + 1];
}

__kernel void apart(ARGS) {
  int line[200];
  for (int i = 0; i < 100; i++) line[i] = i;
  for (int i = 0; i < n; i++) line[i + 3] = line[i] + a[i];
  for (int i = 0; i < n; i++) out[i] = line[i + 2];
}

__kernel void two_stores(ARGS) {
  int pair[512];
  for (int i = 0; i < n; i++) {
    pair[2 * i] = a[i];
    pair[2 * i + 1] = a[i] ^ 5;
  }
  int s = 0;
  for (int i = 0; i < 2 * n; i++) s += pair[i] ^ i;
  out[0] = s;
}

__kernel void stores_of_many_levels(ARGS) {
  int line[300];
  for (int r = 0; r < 3; r++) {
    line[r] = r * 100;
    for (int i = 0; i < 200; i++) line[(i * 7) % 300] = i;
    for (int i = 0; i < n; i++) {
      line[(i * 7) % 300] = i;
      if (a[i] > 20) line[(a[i] & 127) + 100] = out[i];
      else line[299 - (i & 63)] = a[i] + r;
    }
    for (int i = 0; i < n; i++) out[i] = line[(i * 2 * 7) % 300];
  }
}

__kernel void answer_between_stores(ARGS) {
  int line[256];
  for (int i = 0; i < 256; i++) line[i] = i;
  for (int i = 0; i < n; i++) {
    line[i & 255] = i * 3;
    int v = a[line[(i * 5) & 255] & 63];
    line[(v + i) & 255] = v;
  }
  for (int i = 0; i < 64; i++) out[i] = line[i];
}

__kernel void stores_in_and_around_a_loop(ARGS) {
  int line[256];
  for (int i = 0; i < 256; i++) line[i] = 0;
  for (int i = 0; i < n; i++) {
    int k = a[i] & 255;
    for (int j = 0; j < (i & 3); j++) line[(k + j) & 255] += j + 1;
    line[k] += 100;
  }
  for (int i = 0; i < 64; i++) out[i] = line[i];
}

__kernel void chase(ARGS) {
  int line[256];
  for (int i = 0; i < 256; i++) line[i] = a[i & 63];
  int p = 0, c = 0;
  while (c < 3 * n && line[p] != 61) {
    int q = line[p];
    line[p] = q + 1;
    p = (p + (q & 15) + 1) & 255;
    c++;
  }
  out[0] = p;
  out[1] = c;
  for (int i = 2; i < 64; i++) out[i] = line[i];
}

__kernel void bytes_and_words(ARGS) {
  uchar small[200];
  long wide[70];
  for (int i = 0; i < 200; i++) small[i] = (uchar)(i * 3);
  for (int i = 0; i < n; i++) {
    small[a[i] + 10]++;
    wide[i] = (long)a[i] << small[i & 7];
  }
  for (int i = 0; i < n; i++) out[i] = (int)(wide[i] >> 2) + small[i];
}

__kernel void float_sums(ARGS) {
  float sum[64];
  for (int i = 0; i < 64; i++) sum[i] = 0.5f;
  for (int i = 0; i < n; i++) sum[a[i] & 7] += (float)a[i];
  for (int i = 0; i < 64; i++) out[i] = (int)sum[i];
}

__kernel void of_each_item(ARGS) {
  int line[100];
  int g = get_global_id(0);
  for (int i = 0; i < 64; i++) line[i] = a[i] + g;
  int s = 0;
  for (int i = 0; i < 64; i++) s += line[63 - i] * i;
  out[g] = s;
}

__constant int squares[100] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361};

__kernel void table(ARGS) {
  for (int i = 0; i < n; i++) out[i] = squares[a[i] & 31] + squares[i];
}

void fill(__local int *to, __global const int *restrict from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void local_of_one_item(ARGS) {
  __local int line[256];
  fill(line, a, n);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < n; i++) out[i] = line[n - 1 - i] + line[i];
}

__kernel void one_behind_the_other(ARGS) {
  int __attribute__((merge("m", "depth"))) low[100];
  int __attribute__((merge("m", "depth"))) high[70];
  for (int i = 0; i < n; i++) low[i] = a[i] * 3;
  for (int i = 0; i < n; i++) high[a[i] & 63] = low[n - 1 - i];
  for (int i = 0; i < n; i++) {
    low[i] += high[a[i] & 63];
    out[i] = low[i] - i;
  }
}

__kernel void side_by_side(ARGS) {
  short __attribute__((merge("m", "width"))) low[100];
  short __attribute__((merge("m", "width"))) high[70];
  short __attribute__((merge("m", "width"))) third[64];
  for (int i = 0; i < n; i++) {
    low[i] = a[i] * 3;
    high[i] = a[i] - 7;
    third[63 - i] = i;
  }
  for (int i = 0; i < n; i++) out[i] = low[i] * high[i] + third[63 - a[i] % n];
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void local_together(ARGS) {
  __local int __attribute__((merge("m", "depth"))) from[64];
  __local int __attribute__((merge("m", "depth"))) to[64];
  fill(from, a, n);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < n; i++) to[n - 1 - i] = from[i] + i;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < n; i++) out[i] = to[i];
}
