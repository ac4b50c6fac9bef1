/* Local memory that many lanes and unrolled steps use at once. `n` is anything. */
#define IO __global const int *restrict a, __global int *restrict out, int n

__attribute__((num_simd_work_items(16), reqd_work_group_size(16, 16, 1)))
__kernel void transpose(IO) {
  __local int t[16][16];
  int x = get_local_id(0), y = get_local_id(1), i = get_global_id(1) * 16 + get_global_id(0);
  t[y][x] = a[i] + n;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = t[x][y];
}

__attribute__((num_simd_work_items(4), reqd_work_group_size(16, 16, 1)))
__kernel void tiles(IO) {
  __local int p[16][16], q[16][16];
  int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1), column = get_global_id(0), sum = 0;
  for (int k = 0; k < 32; k += 16) {
    p[y][x] = a[row * 32 + k + x];
    q[y][x] = a[(k + y) * 32 + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int i = 0; i < 16; i++) sum += p[y][i] * q[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[row * 32 + column] = sum;
}
