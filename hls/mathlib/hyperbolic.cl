// Hyperbolic functions and their inverses: polynomials close to 0, exponentials and logarithms elsewhere.
#include "exponential.h"
#include "polynomial.h"

#define LN_2 0.693147180559945309f

// e^x / 2 for x from 0 on, which is finite for slightly larger x than e^x.
float _half_exp(float x) {
  float result = _power_of_two(_binary_exponent_of_e(x) - (1L << 32));
  return x <= 89.4159851f ? result : INFINITY;
}

float sinh(float x) {
  float size = fabs(x);
  uint z = _square_of(size);
  int p = SINH_3 + _times(SINH_4, z);
  p = SINH_2 + _times(p, z);
  p = SINH_1 + _times(p, z);
  p = SINH_0 + _times(p, z);
  float power = _half_exp(size);
  float result = size < 1.0f ? size * _from_fixed(p, 30) : power - 0.25f / power;
  return x != x ? x : copysign(result, x);
}

float cosh(float x) {
  float power = _half_exp(fabs(x));
  return x != x ? x : power + 0.25f / power;
}

float tanh(float x) {
  float size = fabs(x);
  uint z = _square_of(size);
  int p = TANH_4 + _times(TANH_5, z);
  p = TANH_3 + _times(p, z);
  p = TANH_2 + _times(p, z);
  p = TANH_1 + _times(p, z);
  p = TANH_0 + _times(p, z);
  float power = _half_exp(size + size);
  float result = size < 0.55f ? size * _from_fixed(p, 30) : 1.0f - 1.0f / (power + 0.5f);
  return x != x ? x : copysign(size < 10.0f ? result : 1.0f, x);
}

float asinh(float x) {
  float size = fabs(x);
  uint z = _square_of(size);
  int p = ASINH_4 + _times(ASINH_5, z);
  p = ASINH_3 + _times(p, z);
  p = ASINH_2 + _times(p, z);
  p = ASINH_1 + _times(p, z);
  p = ASINH_0 + _times(p, z);
  bool large = size > 0x1p62f;
  float far = log(large ? size : size + sqrt(fma(size, size, 1.0f))) + (large ? LN_2 : 0.0f);
  return x != x ? x : copysign(size < 0.5f ? size * _from_fixed(p, 30) : far, x);
}

float acosh(float x) {
  float above = x - 1.0f;
  bool large = x > 0x1p62f;
  float near = above + sqrt(above * (above + 2.0f));
  float result = log1p(large ? above : near) + (large ? LN_2 : 0.0f);
  return x >= 1.0f ? result : NAN;
}

float atanh(float x) {
  float size = fabs(x);
  float result = 0.5f * log1p((size + size) / (1.0f - size));
  return size <= 1.0f ? copysign(size == 1.0f ? INFINITY : result, x) : NAN;
}
