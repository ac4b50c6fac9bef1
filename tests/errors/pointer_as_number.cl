__kernel void f(__global int *a, __global int *b) {
  if (a == b) a[0] = 1;
  a[1] = a * 2;
  if (a) a[2] = (int)b;
  a[3] = b - a;
}
