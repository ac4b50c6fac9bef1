// Work-items of a group that meet at barriers and share memory.

__kernel void turn(__global const int *restrict in, __global int *restrict out)
{
  __local int t[256];
  int l = get_local_id(0), m = get_local_size(0);
  t[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[m - 1 - l];
}

// as many rounds as the group is large, in a loop
__kernel __attribute__((max_work_group_size(64)))
void sum_up(__global const int *restrict in, __global int *restrict out)
{
  __local int t[64];
  int l = get_local_id(0);
  t[l] = in[get_global_id(0)];
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) t[l] += t[l + s];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) out[get_group_id(0)] = t[0];
}

__kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void tiles(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n)
{
  __local float x[4][4], y[4][4];
  int i = get_local_id(1), j = get_local_id(0);
  int row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int t = 0; t < n; t += 4) {
    x[i][j] = a[row * n + t + j];
    y[i][j] = b[(t + i) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 4; k++) sum += x[i][k] * y[k][j];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

// the host says how large the memory is; two of them, one in a helper's hands
void put(__local int *t, int at, int value) { t[at] = value; }
int take(__local const int *t, int at) { return t[at]; }
__kernel void prefix(__global const int *restrict in, __global int *restrict out, __local int *one, __local int *other)
{
  int l = get_local_id(0), n = get_local_size(0);
  put(one, l, in[get_global_id(0)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < n; d <<= 1) {
    int v = take(one, l);
    if (l >= d) v += take(one, l - d);
    put(other, l, v);
    barrier(CLK_LOCAL_MEM_FENCE);
    put(one, l, take(other, l));
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = take(one, l);
}

// a loop in a loop, two stores a step
__kernel __attribute__((max_work_group_size(32)))
void sorted(__global int *restrict data)
{
  __local int t[32];
  int l = get_local_id(0), n = get_local_size(0);
  t[l] = data[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int size = 2; size <= n; size <<= 1)
    for (int d = size >> 1; d > 0; d >>= 1) {
      int other = l ^ d;
      int a = t[l], b = t[other];
      barrier(CLK_LOCAL_MEM_FENCE);
      if (other > l && (a > b) == ((l & size) == 0)) { t[l] = b; t[other] = a; }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  data[get_global_id(0)] = t[l];
}

// groups go round differently often; some not at all
__kernel __attribute__((max_work_group_size(16)))
void uneven(__global const int *restrict in, __global int *restrict out)
{
  __local int t[16];
  int l = get_local_id(0), n = get_local_size(0), g = get_group_id(0);
  int v = in[get_global_id(0)];
  for (int k = 0; k < (g * 5) % 4; k++) {
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v = t[(l + 1) % n] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = v;
}

// conditions that all work-items share: of the kernel, of the group, from local memory
__kernel __attribute__((max_work_group_size(16)))
void chosen(__global const int *restrict in, __global int *restrict out, int twice)
{
  __local int t[16], go;
  int l = get_local_id(0), n = get_local_size(0), g = get_group_id(0);
  int v = in[get_global_id(0)];
  if (twice) {
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v += t[n - 1 - l];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) go = v & 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (go) {
    if (g & 1) barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = 3 * v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v = t[(l + 1) % n];
  }
  out[get_global_id(0)] = v;
}

// what work-items tell each other through global memory
__kernel __attribute__((max_work_group_size(32)))
void through_global(__global const int *in, __global int *work, __global int *out)
{
  int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
  int first = i - l;
  work[i] = in[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  int v = work[first + n - 1 - l];
  barrier(CLK_GLOBAL_MEM_FENCE);
  work[i] = v + work[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = work[first + (l + 1) % n];
}

// the same, round and round
__kernel __attribute__((max_work_group_size(16)))
void global_rounds(__global int *work, int rounds)
{
  int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
  int first = i - l;
  for (int k = 0; k < rounds; k++) {
    int v = work[first + (l + 1) % n];
    barrier(CLK_GLOBAL_MEM_FENCE);
    work[i] += 3 * v + k;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}

// loops that work-items run by themselves between barriers, some of them for long
__kernel __attribute__((max_work_group_size(32)))
void alone(__global const int *restrict in, __global int *restrict out)
{
  __local int t[32];
  int l = get_local_id(0), n = get_local_size(0), v = in[get_global_id(0)], sum = 0;
  for (int k = 0; k < (v & 7); k++) sum = sum * 3 + k;
  t[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int round = 0; round < 3; round++) {
    int most = 0;
    for (int k = l; k < n; k++) if (t[k] > most) most = t[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = most - round;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int k = 0; k < l % 3; k++) sum += t[k];
  out[get_global_id(0)] = sum;
}

// three dimensions of everything
__kernel void cubes(__global const short *restrict in, __global short *restrict out)
{
  __local short t[256];
  int x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
  int nx = get_local_size(0), ny = get_local_size(1), nz = get_local_size(2);
  int here = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  t[(z * ny + y) * nx + x] = in[here];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[here] = t[((nz - 1 - z) * ny + ny - 1 - y) * nx + nx - 1 - x] + get_group_id(1);
}

// copies by the whole group
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void fetched(__global const int *restrict in, __global int *restrict out)
{
  __local int t[40];
  event_t e = async_work_group_copy(t, in + 40 * get_group_id(0), 40, 0);
  wait_group_events(1, &e);
  int l = get_local_id(0);
  out[get_global_id(0)] = t[l] + t[l + 16] - t[39 - l];
}

// a barrier with nothing to share, and a value that only some work-items have
__kernel __attribute__((max_work_group_size(8)))
void nothing_shared(__global const int *restrict in, __global int *restrict out)
{
  int i = get_global_id(0);
  if (get_local_id(0) & 1) out[i] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!(get_local_id(0) & 1)) out[i] = -in[i];
}

// counts of a group, one work-item after the other at the same few places
__kernel __attribute__((max_work_group_size(64)))
void counted(__global const uint *restrict in, __global uint *restrict out)
{
  __local uint h[16];
  __local int most, least;
  int l = get_local_id(0), n = get_local_size(0);
  for (int k = l; k < 16; k += n) h[k] = 0;
  if (l == 0) { most = -100; least = 100; }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint v = in[get_global_id(0)];
  atomic_add(&h[v & 15], v >> 4 & 3);
  if (v & 64) atomic_max(&most, (int)(v & 127) - 64);
  atomic_min(&least, (int)(v & 127) - 64);
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
  for (int k = 0; k < 16; k++) sum = sum * 5 + h[k];
  out[get_global_id(0)] = sum + most * 3 + least;
}

// every operation, in loops that work-items run by themselves
__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void all_atomics(__global const int *restrict in, __global int *restrict out)
{
  __local int a[8];
  __local uint b[8];
  int l = get_local_id(0), g = get_group_id(0);
  a[l] = in[g]; b[l] = in[g + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  int v = in[get_global_id(0)];
  for (int k = 0; k < (v & 3); k++) {
    atomic_add(&a[0], v + k); atomic_sub(&a[1], v); atomic_inc(&a[2]); atomic_dec(&a[3]);
    atomic_and(&a[4], v | k); atomic_or(&a[5], v & k); atomic_xor(&a[6], v); atomic_max(&a[7], v - k);
    atomic_min(&b[0], (uint)v); atomic_max(&b[1], (uint)v); atomic_cmpxchg(&b[2], b[2], in[g + 1]);
  }
  if (l == 3) out[get_global_size(0) + g] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = a[l] + (int)b[l];
}

// what was there before goes to one work-item only
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void tickets(__global const int *restrict in, __global int *restrict out)
{
  __local int next;
  __local int seen[16];
  int l = get_local_id(0);
  if (l == 0) next = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int v = in[get_global_id(0)], mine = -1;
  if (v & 1) mine = atomic_inc(&next);
  if (mine >= 0) seen[mine] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = l < next ? seen[l] : 0;
}

// counts in global memory, and what was there before
__kernel void global_counts(__global const uint *restrict in, __global uint *h, __global int *least, __global uint *out)
{
  int i = get_global_id(0);
  uint v = in[i];
  atomic_add(&h[v & 31], v >> 5 & 7);
  if (v & 256) atomic_min(least, (int)v % 1000);
  uint order = 0;
  for (int k = 0; k < (v & 3); k++) order += atomic_xchg(&out[i], k + 1);
  out[i] += order;
}

// all of them, of 32 and 64 bits, stores and loads of the same places around them
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
__kernel void all_global(__global const int *restrict in, __global int *a, __global ulong *b)
{
  int i = get_global_id(0), v = in[i];
  atomic_sub(&a[1], v); atomic_inc(&a[2]); atomic_dec(&a[3]); atomic_and(&a[4], v); atomic_or(&a[5], v);
  atomic_xor(&a[6], v); atomic_max(&a[7], v);
  atom_add(&b[0], (ulong)v << 20); atom_min(&b[1], (ulong)v); atom_cmpxchg(&b[2], 5ul, 77ul);
  a[40 + i] = v;
  atomic_add(&a[40 + i], 5);
  a[40 + i] *= 3;
  atomic_add(&a[40 + i], a[40 + i] & 1);
}

// pointers in local memory, to buffers and to local memory: set by one work-item, used by another
__kernel void pointed(__global const int *restrict in, __global const int *restrict other, __global int *restrict out)
{
  __global const int *__local rows[16];
  __global const int *__local one;
  __local int *__local turned[2][8];
  __local int t[16];
  int l = get_local_id(0), g = get_group_id(0), last = get_local_size(0) - 1;
  rows[l] = in[l] & 1 ? in + l : other + 2 * l;
  t[l] = in[get_global_id(0)];
  turned[l & 1][l >> 1] = &t[last - l];
  if (l == last) one = g & 1 ? in : other;
  barrier(CLK_LOCAL_MEM_FENCE);
  __global const int *__local *r = rows;
  out[get_global_id(0)] = r[last - l][g] + *turned[l >> 3][l & 7] * 3 + one[l] + (rows[0] == in);
}
