__kernel void f(__global int *a) {
  printf("%d\n", a[0]);
}
