// Stores that work-items of one group make to one local memory at the same time, in different levels and loops.

// before a loop and in it
__kernel __attribute__((max_work_group_size(64)))
void around(__global const int *restrict in, __global int *restrict out)
{
  __local int t[64];
  int l = get_local_id(0), v = in[get_global_id(0)];
  t[l] = v;
  for (int k = 0; k < (v & 7); k++) t[l] += k;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[get_local_size(0) - 1 - l];
}

// in one loop, behind it, and in another that only some run, and all of that again in each round
__kernel __attribute__((max_work_group_size(32)))
void rounds(__global const int *restrict in, __global int *restrict out, int n)
{
  __local int t[3 * 32];
  int l = get_local_id(0), size = get_local_size(0), v = in[get_global_id(0)];
  for (int k = 0; k < 3; k++) t[l + k * size] = v + k;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int r = 0; r < n; r++) {
    int other = t[(l + r + 1) % size];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < (v + r & 3); k++) t[l + k * size] -= other ^ k;
    t[l] /= 3;
    if (v & 4)
      for (int k = 2; k >= 0; k--) t[l + k * size] += t[l] & 15;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = t[l] + 3 * t[l + size] + 5 * t[l + 2 * size];
}

// two memories, and two in one token
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void crosswise(__global const int *restrict in, __global int *restrict out)
{
  __local int a[32], b[32];
  int l = get_local_id(0), v = in[get_global_id(0)];
  a[l] = v; a[l + 16] = ~v; b[l] = 0; b[l ^ 31] = 1;
  for (int k = 0; k < (v & 7); k++) { a[l] ^= k << 4; b[l] += v; }
  for (int k = 0; k < (v >> 3 & 3); k++) { b[l ^ 31] += a[l]; a[l + 16] -= b[l]; }
  barrier(CLK_LOCAL_MEM_FENCE);
  int m = l ^ 5;
  out[get_global_id(0)] = a[m] + 3 * a[m + 16] + 5 * b[m] + 7 * b[m ^ 31];
}

// an atomic operation in a loop beside a store that some make meanwhile
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void beside_atomics(__global const int *restrict in, __global int *restrict out)
{
  __local int t[20];
  int l = get_local_id(0), v = in[get_global_id(0)];
  if (l < 4) t[16 + l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < (v & 7); k++) atomic_add(&t[16 + (v + k & 3)], v);
  t[l] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[l ^ 3] + t[16 + (l & 3)];
}

// The same in a single work-item: rows, each written in several loops, of which the next one's begin before they end.

// elimination: an element of the row before the loop, the others in it
__kernel void decomposed(__global const float *restrict in, __global float *restrict out, int n)
{
  float a[16][16];
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) a[i][j] = in[i * 16 + j];
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < 16; i++) {
      float f = a[i][k] / a[k][k];
      a[i][k] = f;
      for (int j = k + 1; j < 16; j++) a[i][j] -= f * a[k][j];
    }
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) out[i * 16 + j] = a[i][j];
}

// one loop behind the other, and an element between them and behind
__kernel void halves(__global const int *restrict in, __global int *restrict out, int n)
{
  int t[16][24];
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 24; j++) t[i][j] = -j;
  for (int i = 0; i < 16; i++) {
    int v = in[i];
    for (int j = 0; j < (v & 7); j++) t[i][j] = v + j;
    t[i][20] = v / 3;
    for (int j = 8; j < n; j++) t[i][j] = v ^ j;
    if (v & 1) t[i][21] = n;
  }
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 24; j++) out[i * 24 + j] = t[i][j];
}

// a store in each of three loops, and places of which some are written twice
__kernel void triples(__global const int *restrict in, __global int *restrict out, int n)
{
  int t[4 * 64];
  for (int i = 0; i < 4 * 64; i++) t[i] = 0;
  for (int r = 0; r < n; r++)
    for (int i = 0; i < 4; i++) {
      t[i * 64 + 63] = in[i] + r;
      for (int j = 0; j < 5; j++) {
        t[i * 64 + j * 8 + 7] = in[j] + i;
        for (int k = 0; k < (in[j] & 7); k++) t[i * 64 + j * 8 + k] += in[k] ^ r;
      }
    }
  for (int i = 0; i < 4 * 64; i++) out[i] = t[i];
}

// rounds behind one another in more local memory than there are copies of for a group at each barrier
#define ROUND(d) barrier(CLK_LOCAL_MEM_FENCE); if (l < d) t[l] += t[l + d];
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void crowded(__global const int *restrict in, __global int *restrict out)
{
  __local int t[16384];
  int l = get_local_id(0);
  t[l] = in[get_global_id(0)];
  ROUND(8) ROUND(4) ROUND(2) ROUND(1)
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[0];
}
