__attribute__((num_simd_work_items(8)))
__kernel void f(__global int *a, int n) {
  for (int i = 0; i < n; i++) a[i] = i;
}
