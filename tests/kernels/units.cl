// Several compute units share the groups of a launch.

__attribute__((num_compute_units(2)))
__kernel void added(__global const int *restrict a, __global const int *restrict b, __global int *restrict c)
{
  int i = get_global_id(0);
  c[i] = a[i] * 3 + b[i];
}

// groups that take very different times
__attribute__((num_compute_units(2)))
__kernel void steps(__global const uint *restrict in, __global uint *restrict out)
{
  int i = get_global_id(0);
  uint n = in[i], k = 0;
  while (n > 1) { n = n & 1 ? 3 * n + 1 : n >> 1; k++; }
  out[i] = k;
}

// all that tells a work-item where it is
__attribute__((num_compute_units(2)))
__kernel void places(__global int *restrict out, int plus)
{
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int w = get_global_size(0), h = get_global_size(1);
  int at = (x - (int)get_global_offset(0)) + w * ((y - (int)get_global_offset(1)) + h * (z - (int)get_global_offset(2)));
  out[at] = plus + x + 100 * y + 10000 * z + (int)get_local_id(0) * 7 + (int)get_local_id(1) * 70 + (int)get_group_id(0) * 3
    + (int)get_group_id(1) * 5 + (int)get_group_id(2) * 11 + (int)get_num_groups(1) + (int)get_local_size(2);
}

// groups with memory of their own, which meet in a loop
__attribute__((num_compute_units(2), max_work_group_size(64)))
__kernel void sums(__global const int *restrict in, __global int *restrict out, __global int *restrict total)
{
  __local int t[64];
  int l = get_local_id(0), m = get_local_size(0);
  t[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = m / 2; s > 0; s >>= 1) {
    int x = l < s ? t[l + s] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] += x;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) { out[get_group_id(0)] = t[0]; atomic_add(total, t[0]); }
}

// through global memory and back, over a barrier; an array of each work-item's own
__attribute__((num_compute_units(1, 2), reqd_work_group_size(8, 2, 1)))
__kernel void handed(__global const int *restrict in, __global int *work, __global int *restrict out)
{
  int l = get_local_id(0) + 8 * get_local_id(1), g = 16 * (get_group_id(0) + get_num_groups(0) * get_group_id(1));
  work[g + l] = in[g + 15 - l] * 5;
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[g + l] = work[g + (l ^ 3)] - l;
}

// lanes and units
__attribute__((num_simd_work_items(4), num_compute_units(2), reqd_work_group_size(16, 1, 1)))
__kernel void both(__global const float *restrict a, __global float *restrict b)
{
  __local float t[16];
  int l = get_local_id(0), i = get_global_id(0);
  t[l] = a[i] * 2;
  barrier(CLK_LOCAL_MEM_FENCE);
  b[i] = t[15 - l] + a[i];
}

// nobody asks for the place: what counts is how many there are
__attribute__((num_compute_units(2)))
__kernel void counted(__global int *restrict count)
{
  atomic_inc(&count[get_local_size(0) & 3]);
}

// every unit knows its number; which one gets a group nobody knows
__attribute__((num_compute_units(2, 2)))
__kernel void numbers(__global int *restrict seen)
{
  seen[get_compute_id(1) + 2 * get_compute_id(0)] = 1 + (get_global_id(0) < 0);
}
