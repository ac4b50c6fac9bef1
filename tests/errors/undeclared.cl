__kernel void f(__global int *out) {
  int count = 3;
  out[0] = cuont + 1;
}
