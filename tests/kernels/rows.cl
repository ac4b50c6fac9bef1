/* Work-items whose loads make runs: rows of the first dimension, read in bursts. */
#define ARGS __global const int *restrict a, __global const uchar *restrict s, __global int *restrict b, int n

__kernel void in_line(ARGS) {
  int i = get_global_id(0);
  b[i] = a[i] + s[i];
}

__kernel void in_rows(ARGS) {
  int i = get_global_id(0), j = get_global_id(1);
  b[j * n + i] = a[j * n + i] * 3 + s[i + 2 * j];
}

__kernel void by_group(ARGS) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  b[get_global_id(0)] = a[i] - s[get_local_id(0)];
}

__kernel void turned_in_groups(ARGS) {
  __local int t[64];
  int i = get_local_id(0), last = get_local_size(0) - 1;
  t[i] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[get_global_id(0)] = t[last - i] + s[i];
}

__attribute__((num_compute_units(2), max_work_group_size(64)))
__kernel void two_units(ARGS) {
  int i = get_global_id(0);
  b[i] = a[i] ^ s[i];
}

__kernel void through_an_index(ARGS) {
  int i = get_global_id(0);
  b[i] = a[s[i] + i];
}

__kernel void guarded(ARGS) {  // up to a bound, which may lie behind the row or before it
  int i = get_global_id(0), j = get_global_id(1);
  if (i < n - 90 && j < 2) b[j * n + i] = a[j * n + i] + s[i];
}

__kernel void inner_part(ARGS) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i <= 2 || i + 2 > n) return;
  b[i] = a[i] + s[i + 1];
}
