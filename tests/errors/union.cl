__kernel void f(__global int *a) {
  union { int i; float f; } u;
  u.i = a[0];
}
