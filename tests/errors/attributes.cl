__attribute__((num_simd_work_items(4)))
__attribute__((reqd_work_group_size(16, 1, 1))) __attribute__((always_inline))
__kernel void f(__global __attribute__((buffer_location("DDR"))) int *a) {
  int t[4] __attribute__((numbanks(2), colour(3)));
  t[0] = 1;
  __attribute__((opencl_unroll_hint(2)))
  for (int i = 1; i < 4; i++) t[i] = t[i - 1];
  a[get_global_id(0)] = t[3];
}
