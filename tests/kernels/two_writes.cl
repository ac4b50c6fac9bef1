/* Memories that are written twice a cycle. `n` is a multiple of 16, at most 512. Half of the time both stores are at one place, and of many places
   what was stored last shows whether it was the second. */
#define IO __global const int *restrict a, __global int *restrict out, int n
#define TWICE __attribute__((doublepump, numwriteports(2)))
#define BEGIN(t) for (int i = 0; i < 64; i++) t[i] = i * 7
#define SECOND(x, v) ((v) & 64 ? (x) : (v) >> 8 & 63)
#define END(t) for (int i = 0; i < 64; i++) out[i] = t[i]

__kernel void scatter(IO) {
  int t[64] TWICE;
  BEGIN(t);
  for (int i = 0; i < n; i++) {
    int v = a[i], x = v & 63;
    t[x] = i;
    t[SECOND(x, v)] = ~i;
  }
  END(t);
}

__kernel void seen(IO) {  // and read in each iteration: few places, so that those of the iterations before are met
  int t[64] TWICE;
  BEGIN(t);
  for (int i = 0; i < n; i++) {
    int v = a[i];
    out[64 + i] = t[(v >> 4) & 3];
    t[v & 3] = i;
    t[(v >> 8) & 3] = ~i;
  }
  END(t);
}

__kernel void swap(IO) {  // two recurrences through one memory
  int t[64] __attribute__((doublepump));
  BEGIN(t);
  for (int i = 0; i < n; i++) {
    int x = a[i] & 7, y = (a[i] >> 8) & 7;
    int first = t[x], second = t[y];
    t[x] = second;
    t[y] = first;
  }
  END(t);
}

__kernel void sort(IO) {  // the same, with a choice
  int t[64] __attribute__((doublepump));
  for (int i = 0; i < 64; i++) t[i] = a[i] & 0xffff;
  for (int i = 0; i < n; i++) {
    int x = a[i] & 63, y = (a[i] >> 8) & 63;
    int first = t[x], second = t[y];
    if ((first > second) == (x < y)) {
      t[x] = second;
      t[y] = first;
    }
  }
  END(t);
}

__kernel void four(IO) {  // two turns of two
  int t[64] __attribute__((doublepump));
  BEGIN(t);
  for (int i = 0; i < n; i++) {
    int v = a[i], x = v & 63;
    t[x] = i;
    t[(v >> 4) & 63] = ~i;
    t[SECOND(x, v)] = i * 3;
    t[(v & 48) ? (v >> 12) & 63 : x] = i ^ 5;
  }
  END(t);
}

__kernel void three(IO) {  // and loads of what was stored before
  int t[64] TWICE;
  BEGIN(t);
  for (int i = 0; i < n; i++) {
    int v = a[i];
    t[v & 7] = i;
    t[(v >> 4) & 7] = ~i;
    t[(v >> 8) & 7] = t[(v >> 12) & 7] + 1;
  }
  END(t);
}

__kernel void some(IO) {  // not every iteration
  int t[64] TWICE;
  BEGIN(t);
  for (int i = 0; i < n; i++) {
    int v = a[i];
    out[64 + i] = t[(v >> 4) & 3];
    if (v & 16) t[v & 3] = i;
    if (v & 32) t[(v >> 8) & 3] = v * i;
  }
  END(t);
}

__kernel void bytes(IO) {  // pieces of words
  uchar t[256] __attribute__((doublepump, numwriteports(2), bankwidth(4)));
  for (int i = 0; i < 256; i++) t[i] = (uchar)i;
  for (int i = 0; i < n; i++) {
    int v = a[i];
    out[256 + i] = t[(v >> 6) & 7];
    t[v & 7] = (uchar)i;
    t[(v >> 8) & 7] = (uchar)(v >> 4);
  }
  for (int i = 0; i < 256; i++) out[i] = t[i];
}

__kernel void banks(IO) {  // two banks, four stores
  int t[2][64] __attribute__((doublepump));
  for (int i = 0; i < 64; i++) t[0][i] = t[1][i] = i;
  for (int i = 0; i < n; i++) {
    int v = a[i];
    #pragma unroll
    for (int k = 0; k < 2; k++) {
      int x = (v >> k) & 63;
      t[k][x] = i;
      t[k][SECOND(x, v)] = ~i;
    }
  }
  for (int i = 0; i < 64; i++) out[i] = t[0][i] * 1000 + t[1][i];
}

__kernel void two_loops(IO) {  // an element before each row, and the row: both loops at once
  int t[64] TWICE;
  BEGIN(t);
  for (int j = 0; j < n / 16; j++) {
    t[a[j] & 63] = j;
    #pragma unroll 1
    for (int k = 0; k < 16; k++) t[(a[k + j] + k) & 63] = j + k;
  }
  END(t);
}

__kernel void apart(IO) {  // stores of two loops that never meet at a place; the loop that reads keeps both from being one
  int t[128] TWICE;
  for (int i = 0; i < 128; i++) t[i] = i;
  for (int j = 0; j < n / 16; j++) {
    t[64 + (a[j] & 63)] = j;
    for (int k = 0; k < 64; k++) t[k] = a[(k + j) & 511] + j;
    #pragma unroll 1
    for (int k = 0; k < 8; k++) out[j * 8 + k] = t[a[j + k] & 127];
  }
}

__kernel void invocations(IO) {  // from one run of a short loop to the next
  int t[64] TWICE;
  BEGIN(t);
  for (int j = 0; j < n / 4; j++) {
    #pragma unroll 1
    for (int k = 0; k < 4; k++) {
      int v = a[j + k], x = (v + j) & 63;
      t[x] = j + k;
      t[SECOND(x, v)] = j - k;
    }
  }
  END(t);
}

__kernel void unrolled(IO) {  // eight in turn
  int t[64] TWICE;
  BEGIN(t);
  for (int j = 0; j < n / 4; j++) {
    #pragma unroll
    for (int k = 0; k < 4; k++) {
      int v = a[j + k], x = (v + j) & 63;
      t[x] = j + k;
      t[SECOND(x, v)] = j - k;
    }
  }
  END(t);
}

__kernel void rows(IO) {  // an array for each row under way
  for (int j = 0; j < n / 16; j++) {
    int t[64] TWICE;
    for (int k = 0; k < 64; k++) t[k] = k;
    for (int k = 0; k < 32; k++) {
      int v = a[j + k], x = v & 63;
      t[x] = k;
      t[SECOND(x, v)] = ~k;
    }
    int s = 0;
    for (int k = 0; k < 64; k++) s = s * 3 + t[k];
    out[j] = s;
  }
}

__attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void groups(IO) {  // work-items
  __local int t[64] TWICE;
  int l = get_local_id(0), g = get_global_id(0), m = n & 63;
  t[(2 * l) ^ m] = a[g];
  t[(2 * l + 1) ^ m] = a[g] * 3;
  barrier(CLK_LOCAL_MEM_FENCE);
  int s = t[(31 - l) ^ m] - t[l ^ m];
  t[(32 + l) ^ m] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g] = s + t[(32 + ((l + 1) & 15)) ^ m];
}

__kernel void late(IO) {  // the first store of an iteration knows its data last
  int t[64] TWICE;
  BEGIN(t);
  for (int i = 0; i < n; i++) {
    int v = a[i], x = v & 63;
    t[x] = ((v * i) ^ (v >> 3)) * (i + 5);
    t[SECOND(x, v)] = i;
    if (v & 128) t[(v >> 9) & 63] = t[x] - 1;
  }
  END(t);
}
