__kernel void f(__global int *a) {
  float line[1 << 24];
  int none[0];
  a[0] = line[3];
}
