__kernel void f(__global int *a, int n) {
  if (a[0] > n {
    a[0] = n;
  }
}
