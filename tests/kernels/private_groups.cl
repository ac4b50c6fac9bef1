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
