// The error function and its complement.
#include "polynomial.h"

// erf(x) for x up to 1
float _erf_near(float size) {
  uint z = _square_of(size);
  int p = ERF_7 + _times(ERF_8, z);
  p = ERF_6 + _times(p, z);
  p = ERF_5 + _times(p, z);
  p = ERF_4 + _times(p, z);
  p = ERF_3 + _times(p, z);
  p = ERF_2 + _times(p, z);
  p = ERF_1 + _times(p, z);
  return size * _from_fixed(ERF_0 + _times(p, z), 30);
}

// p * s for signed p in Q.29 and s in Q.31
int _by_signed(int p, int s) {
  return (int)(((long)p * s) >> 31);
}

// erfc(x) for x from 0.45 on: e^(-x^2) / (x + 4) times a polynomial of (x - 4) / (x + 4).
float _erfc_far(float size) {
  float reciprocal = 1.0f / (size + 4.0f);
  int s = (int)(_fixed_32((size - 4.0f) * reciprocal) >> 1);
  int p = ERFC_8 + _by_signed(ERFC_9, s);
  p = ERFC_7 + _by_signed(p, s);
  p = ERFC_6 + _by_signed(p, s);
  p = ERFC_5 + _by_signed(p, s);
  p = ERFC_4 + _by_signed(p, s);
  p = ERFC_3 + _by_signed(p, s);
  p = ERFC_2 + _by_signed(p, s);
  p = ERFC_1 + _by_signed(p, s);
  p = ERFC_0 + _by_signed(p, s);
  float square = size * size;
  float lost = fma(size, size, -square);
  float power = exp(-square);
  return size < 11.0f ? fma(-lost, power, power) * (_from_fixed(p, 29) * reciprocal) : 0.0f;
}

float erf(float x) {
  float size = fabs(x);
  float result = size < 1.0f ? _erf_near(size) : 1.0f - _erfc_far(size);
  return x != x ? x : copysign(result, x);
}

float erfc(float x) {
  float size = fabs(x);
  float near = 1.0f - copysign(_erf_near(size), x), far = _erfc_far(size);
  float result = size < 0.45f ? near : x < 0.0f ? 2.0f - far : far;
  return x != x ? x : result;
}
