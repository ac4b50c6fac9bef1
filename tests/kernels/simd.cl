// Work-items side by side.

__attribute__((num_simd_work_items(4)))
__kernel void add4(__global const float *restrict a, __global const float *restrict b, __global float *restrict c)
{
  int i = get_global_id(0);
  c[i] = a[i] + b[i];
}

__attribute__((num_simd_work_items(16), reqd_work_group_size(32, 1, 1)))
__kernel void add16(__global const float *restrict a, __global const float *restrict b, __global float *restrict c)
{
  int i = get_global_id(0);
  c[i] = a[i] + b[i];
}

// conditions differ between neighbours; what is read is not where they are
__attribute__((num_simd_work_items(4)))
__kernel void chosen(__global const int *restrict in, __global int *restrict out, int n)
{
  int i = get_global_id(0);
  if (i >= n) return;
  int x = in[i];
  if (x & 1) x += in[x & 7];
  else if (get_local_id(0) == 2) out[i] = -x;
  if (x > 5) out[i] = x;
}

// all of them go round equally often, or not at all
__attribute__((num_simd_work_items(2)))
__kernel void rounds(__global const int *restrict in, __global int *restrict out, int n)
{
  int i = get_global_id(0), s = in[i];
  if (s & 1)
    for (int k = 0; k < n; k++) {
      s = s * 3 + in[k];
      if (s & 4) out[i] += k;
    }
  out[i] += s;
}

// neighbours meet, share memory and count together
__attribute__((num_simd_work_items(4), max_work_group_size(64)))
__kernel void meet(__global const int *restrict in, __global int *restrict out, __global int *restrict count)
{
  __local int t[64];
  int l = get_local_id(0), m = get_local_size(0);
  t[l] = in[get_global_id(0)];
  for (int s = m / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) t[l] += t[l + s];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[0] + t[m - 1 - l];
  if (in[get_global_id(0)] & 1) atomic_add(&count[l & 3], l);
}

// an array of its own for each
__attribute__((num_simd_work_items(2)))
__kernel void own_array(__global const int *restrict in, __global int *restrict out, int n)
{
  int i = get_global_id(0), t[32];
  for (int k = 0; k < 32; k++) t[k] = k * i;
  for (int k = 0; k < n; k++) t[(k * 7 + in[i]) & 31] += in[k];
  out[i] = t[i & 31] + t[n & 31];
}

// neighbours leave their loops at different times: by where they begin, and by data
__attribute__((num_simd_work_items(4)))
__kernel void strides(__global const int *restrict in, __global int *restrict out, int n)
{
  int i = get_global_id(0), s = 0, last = -1, k;
  for (int j = i; j < n; j += get_global_size(0)) { s += in[j]; last = j; }
  for (k = 0; k < n; k++) {
    if ((in[i] & 7) == k) break;
    s += k * in[k];
  }
  out[i] = s * 64 + last + k;
}

// planes of one buffer: how far apart they are only the run knows, and the last store to a place is what is there
__attribute__((num_simd_work_items(4)))
__kernel void planes(__global const int *restrict in, __global int *restrict out, int n)
{
  int i = get_global_id(0);
  #pragma unroll
  for (int k = 0; k < 3; k++)
    if (in[i] != k) out[k * n + i] = in[i] * (k + 1);
}

__attribute__((num_simd_work_items(4)))
__kernel void planes_in_place(__global int *restrict out, int n)
{
  int i = get_global_id(0), a = out[i], b = out[n + i];
  out[i] = a + 2 * b;
  out[n + i] = a - b;
}
