#pragma unrol 4
__attribute__((num_copies(3)))
__kernel void f(__global int *a, int n) {
  #pragma unroll 4
  a[0] = n << 40;
  #pragma fancy
  for (int i = 0; i < 4; i++) a[i] = i / 0;
}
