// Every arithmetic operation that has a part of its own, in every format, and functions of the library.

__kernel void of_double(__global const double *restrict a, __global double *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    double x = a[i], y = a[i + 1];
    out[4 * i] = fma(x, y, x / y);
    out[4 * i + 1] = sqrt(x) - floor(y) * 0.1;
    out[4 * i + 2] = x < y ? (double)(float)x : (double)(half)y;
    out[4 * i + 3] = (double)(long)x + (double)(uint)y;
  }
}

__kernel void of_half(__global const half *restrict a, __global half *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    half x = a[i], y = a[i + 1];
    out[4 * i] = fma(x, y, x / y);
    out[4 * i + 1] = sqrt(x) - ceil(y) * x;
    out[4 * i + 2] = x == y ? (half)i : (half)(float)y;
    out[4 * i + 3] = (half)(short)x + (half)exp(y);
  }
}

__kernel void of_float(__global const float *restrict a, __global float *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    float x = a[i], y = a[i + 1];
    out[6 * i] = fma(x, y, sqrt(x));
    out[6 * i + 1] = trunc(x) + rint(y);
    out[6 * i + 2] = round(x) + (float)(x > y);
    out[6 * i + 3] = exp(x);
    out[6 * i + 4] = log(y);
    out[6 * i + 5] = x != x ? 0.0f : exp2(y);
  }
}
