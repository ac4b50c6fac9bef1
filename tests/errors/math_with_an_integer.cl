__kernel void f(__global float *b) {
  b[0] = pown(b[1], b[2]);
}
