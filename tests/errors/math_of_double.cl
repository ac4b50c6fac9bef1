__kernel void f(__global double *a, __global float *b) {
  a[0] = tgamma(a[1]);
  b[0] = pown(b[1], b[2]);
}
