// Private arrays in block RAM, on one side of a barrier: work-items use them one after the other.
__attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void counts(__global const uchar *restrict data, __global uint *restrict histogram, int each)
{
  __local uint part[8 * 32];
  uint mine[32];
  int id = get_local_id(0);
  for (int k = 0; k < 32; k++) mine[k] = 0;
  for (int k = 0; k < each; k++) mine[data[get_global_id(0) * each + k] & 31]++;
  for (int k = 0; k < 32; k++) part[id * 32 + k] = mine[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = id; k < 32; k += 8) {
    uint sum = 0;
    for (int j = 0; j < 8; j++) sum += part[j * 32 + k];
    histogram[get_group_id(0) * 32 + k] = sum;
  }
}

__attribute__((reqd_work_group_size(4, 1, 1)))
__kernel void rounds(__global const uchar *restrict data, __global uint *restrict histogram, int each)
{
  __local uint seen[4];
  int id = get_local_id(0);
  for (int r = 0; r < 3; r++) {  // begins anew in each round
    uint mine[32];
    for (int k = 0; k < 32; k++) mine[k] = r;
    for (int k = 0; k < each; k++) mine[data[k] & 31] += k + id;
    seen[id] = mine[(id * 7 + r) & 31];
    barrier(CLK_LOCAL_MEM_FENCE);
    histogram[get_global_id(0) * 3 + r] = seen[(id + 1) & 3];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// what a work-item keeps for itself while it waits for the others, in rounds, and with a group of several dimensions
__attribute__((reqd_work_group_size(4, 2, 1)))
__kernel void kept(__global const uchar *restrict data, __global uint *restrict histogram, int each)
{
  __local uint seen[8];
  uint mine[20];
  int id = get_local_id(0) + 4 * get_local_id(1), all = get_global_id(0) + get_global_size(0) * get_global_id(1);
  for (int k = 0; k < 20; k++) mine[k] = k * id;
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < (each + id & 7); k++) mine[data[(all + k) & 511] % 20] += k + r;
    seen[id] = mine[(id * 3 + r) % 20];
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[r] ^= seen[(id + 1) & 7];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  uint sum = 0;
  for (int k = 0; k < 20; k++) sum = sum * 3 + mine[k];
  histogram[all] = sum;
}

// groups of any size
__kernel void of_any_size(__global const uchar *restrict data, __global uint *restrict histogram, int each)
{
  uint mine[5];
  int id = get_local_id(0);
  for (int k = 0; k < 5; k++) mine[k] = data[get_global_id(0) + k];
  barrier(CLK_GLOBAL_MEM_FENCE);
  histogram[get_global_id(0)] = mine[(each + id) % 5];
}
