// One atomic operation an iteration or a work-item on global memory.
__kernel void scattered(__global const int *restrict in, __global int *restrict t, int n)
{
    for (int k = 0; k < n; k++)
        atomic_add(&t[in[k] & 16383], 1);
}

__kernel void bins(__global const int *restrict in, __global int *restrict t, int n)
{
    for (int k = 0; k < n; k++)
        atomic_inc(&t[in[k] & 255]);
}

__kernel void one_counter(__global const int *restrict in, volatile __global int *restrict t, int n)
{
    int i = get_global_id(0);
    if (in[i] & 1)
        atomic_inc(&t[0]);
}

// The way in which OpenCL 1 adds what it has no operation for.
__kernel void compared(__global const int *restrict in, __global int *restrict t, int n)
{
    int i = get_global_id(0);
    __global int *place = &t[in[i] & 255];
    int old = *place, seen;
    do {
        seen = old;
        old = atomic_cmpxchg(place, seen, seen + 3);
    } while (old != seen);
}

// Sums that nobody looks at may be made in any order: neither of the two waits for the other.
__kernel void paired(__global const int *restrict in, __global int *restrict t, int n)
{
    for (int k = 0; k < n; k++) {
        atomic_add(&t[in[k] & 255], k);
        atomic_dec(&t[in[k] >> 8 & 255]);
    }
}

// Nor do work-items side by side.
__attribute__((num_simd_work_items(4), reqd_work_group_size(32, 1, 1)))
__kernel void side_by_side(__global const int *restrict in, __global int *restrict t, int n)
{
    int i = get_global_id(0);
    for (int k = 0; k < (i & 3); k++)
        atomic_max(&t[in[i] + k & 255], i);
}

// sums of floats, by comparing and exchanging until nobody came between
__kernel void exchanged(__global const int *restrict in, volatile __global float *restrict t, int n)
{
  int i = get_global_id(0);
  volatile __global float *place = &t[in[i] & 1023];
  union { float f; uint bits; } old, new;
  do {
    old.f = *place;
    new.f = old.f + (float)(in[i] & 7);
  } while (atomic_cmpxchg((volatile __global uint *)place, old.bits, new.bits) != old.bits);
}

// each looks at what those before have left
__kernel void largest(__global const int *restrict in, __global int *restrict t, int n)
{
  for (int i = 0; i < n; i++)
    if (t[in[i] & 63] < in[i])
      atomic_max(&t[in[i] & 63], in[i]);
}

// the largest floats, of a group and of all, by comparing their bits
__attribute__((reqd_work_group_size(32, 1, 1)))
__kernel void raised(__global const int *restrict in, volatile __global float *restrict t, int n)
{
  __local float most[4];
  int i = get_global_id(0), l = get_local_id(0);
  if (l < 4) most[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  float mine = in[i] & 4095, old = __atom_load(&most[l & 3]), seen;
  while (old < mine) {
    seen = old;
    old = atomic_cmpxchg(&most[l & 3], seen, mine);
    if (old == seen) old = mine;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  volatile __global float *place = &t[in[i] & 63];
  old = __atom_load(place);
  while (old < most[l & 3]) {
    seen = old;
    old = atomic_cmpxchg(place, seen, most[l & 3]);
    if (old == seen) old = most[l & 3];
  }
}
