// Sums that a loop carries, in float and half, as -fp-relaxed keeps them.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void total(__global const float *restrict a, __global float *restrict out, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  out[0] = s;
}

__kernel void of_fixed_length(__global const float *restrict a, __global float *restrict out, int n) {
  float s = -0.0f;
  for (int i = 0; i < 40; i++) s += a[n + i];
  out[0] = s;
}

__kernel void guarded(__global const float *restrict a, __global float *restrict out, int n) {
  float s = 0;
  for (int i = 0; i < n; i++)
    if (i & 3) s += a[i];
  out[0] = s;
}

__kernel void both(__global const float *restrict a, __global float *restrict out, int n) {
  float s = out[0], p = 2.5f;
  for (int i = 0; i < n; i++) {
    s += a[i];
    p -= a[i];
  }
  out[0] = s;
  out[1] = p;
}

__kernel void in_turn(__global const float *restrict a, __global float *restrict out, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  for (int i = 0; i < n; i++) s -= a[i + n];
  out[0] = s;
}

__kernel void halves(__global const half *restrict a, __global half *restrict out, int n) {
  half s = -0.0h, p = out[1];
  for (int i = 0; i < n; i++) {
    s += a[i];
    p -= a[i];
  }
  out[0] = s;
  out[1] = p;
}
