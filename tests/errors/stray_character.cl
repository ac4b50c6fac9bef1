__kernel void f(__global int *a, int n) {
  a[0] = n @ 2;
}
