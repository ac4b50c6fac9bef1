// Barriers under conditions of which only the program knows that they are the same for a whole group.

// rounds of as many as the group is large; n is a multiple of that
__kernel __attribute__((max_work_group_size(32)))
void strided(__global const int *restrict in, __global int *restrict out, int n)
{
  __local int t[32];
  int l = get_local_id(0), m = get_local_size(0), s = 0;
  for (int i = l; i < n; i += m) {
    t[l] = in[i] + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    s = s * 3 + t[(l + 1) % m];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = s;
}

// n cuts between two groups
__kernel __attribute__((max_work_group_size(32)))
void left_early(__global const int *restrict in, __global int *restrict out, int n)
{
  __local int t[32];
  int i = get_global_id(0), l = get_local_id(0), m = get_local_size(0);
  if (i >= n)
    return;
  t[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  int v = t[m - 1 - l];
  for (int s = 1; s < m; s <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v += t[l ^ s];
  }
  out[i] = v;
}

// barriers on both sides, what is exchanged goes through global memory on one
__kernel __attribute__((max_work_group_size(32)))
void two_sides(__global const int *restrict in, __global int *work, __global int *restrict out, int n)
{
  __local int t[32];
  int i = get_global_id(0), l = get_local_id(0), m = get_local_size(0), v = in[i];
  if (i < n) {
    work[i] = v;
    barrier(CLK_GLOBAL_MEM_FENCE);
    v += work[i - l + (l + 1) % m];
  } else {
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v -= t[m - 1 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  t[l] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = v + 7 * t[(l + 3) % m];
}

// groups leave a loop, and the kernel, at different times; some meet once more behind it
__kernel __attribute__((max_work_group_size(16)))
void left_late(__global const int *restrict in, __global const int *restrict last, __global int *restrict out, int rounds)
{
  __local int t[16];
  int i = get_global_id(0), l = get_local_id(0), m = get_local_size(0), v = in[i];
  for (int k = 0; k < rounds; k++) {
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v = 5 * v + t[(l + k + 1) % m];
    out[i] = v;
    if (last[i] == k)
      return;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  t[l] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = t[m - 1 - l];
}

// proved, no promise: sixteen work-items in four rounds
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void counted_off(__global const int *restrict in, __global int *restrict out)
{
  __local int t[64];
  int l = get_local_id(0), s = 0;
  for (int i = l; i < 64; i += 16) {
    t[i] = in[64 * get_group_id(0) + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    s = 3 * s + t[i ^ 5];
  }
  out[get_global_id(0)] = s;
}

// what belongs to the group is looked up with the number of the work-item
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void looked_up(__global const int *restrict in, __global const int *restrict rounds, __global int *restrict out)
{
  __local int t[16];
  int i = get_global_id(0), l = get_local_id(0), v = in[i];
  int n = rounds[i / 16];
  for (int k = 0; k < n; k++) {
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v += t[(l + 1) & 15] ^ k;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (rounds[i >> 4] & 1) {
    t[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    v -= t[15 - l];
  }
  out[i] = v;
}

// four work-items side by side
__kernel __attribute__((num_simd_work_items(4), max_work_group_size(32)))
void side_by_side(__global const int *restrict in, __global int *restrict out, int n)
{
  __local int t[32];
  int i = get_global_id(0), l = get_local_id(0), m = get_local_size(0), s = 0;
  if (i >= n)
    return;
  for (int k = i; k < n; k += m) {
    t[l] = in[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    s = s * 3 + t[(l + 1) % m];
    if (s & 1) s += in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = s;
}

// two units, each with groups that leave early
__kernel __attribute__((num_compute_units(2), max_work_group_size(32)))
void by_units(__global const int *restrict in, __global int *restrict out, int n)
{
  __local int t[32];
  int i = get_global_id(0), l = get_local_id(0), m = get_local_size(0), v = 0;
  if (i < n) {
    for (int k = i; k < n; k += m) {
      t[l] = in[k] + v;
      barrier(CLK_LOCAL_MEM_FENCE);
      v += t[(l + 1) % m];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = v;
  }
}
