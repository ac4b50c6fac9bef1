__kernel void f(__global float *a) {
  a[0] = a[1] % 2.0f;
  a[1] = a[2] << 1;
  a[2] = ~a[3];
  a[a[0]] = 1.0f;
}
