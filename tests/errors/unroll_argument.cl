#define HALF 0
__kernel void f(__global int *a, int n) {
  #pragma unroll n
  for (int i = 0; i < 4; i++) a[i] = i;
  #pragma unroll HALF
  for (int i = 0; i < 4; i++) a[i] = i;
  #pragma ii
  for (int i = 0; i < 4; i++) a[i] = i;
  #pragma ivdep array(b)
  for (int i = 0; i < 4; i++) a[i] = i;
}
