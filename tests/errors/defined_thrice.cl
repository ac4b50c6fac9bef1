float p(float x) { return x; }
short p(uchar x) { return x; }
float p(float x) { return x + 1; }
__kernel void f(__global float *a) { a[0] = p(a[1]); }
