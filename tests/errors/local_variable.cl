__kernel void f(__global int *a) {
  __local int tile[16];
  tile[0] = a[0];
}
