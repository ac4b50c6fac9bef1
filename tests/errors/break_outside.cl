__kernel void f(__global int *a) {
  if (a[0]) break;
  continue;
}
