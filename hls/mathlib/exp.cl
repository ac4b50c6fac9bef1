// Powers of a constant base: base^x = 2^(x * log2(base)), in fixed point.
#include "exponential.h"

// The result, or its limit if it overflows or underflows.
float _within(float x, float low, float high, float result) {
  result = x < low ? 0.0f : result;
  result = x >= high ? INFINITY : result;
  return x != x ? x : result;
}

float exp2(float x) {
  return _within(x, -151.0f, 128.0f, _power_of_two(_fixed_32(x)));
}

float exp(float x) {
  return _within(x, -104.0f, 88.722839355f, _power_of_two(_binary_exponent_of_e(x)));
}

float exp10(float x) {
  long t = _binary_exponent(x, LOG2_10_16, LOG2_10_31, LOG10_2_40);
  return _within(x, -45.5f, 38.5318419f, _power_of_two(t));
}

// Close to 0 a polynomial; elsewhere the subtraction loses at most one bit.
float expm1(float x) {
  int fixed = (int)(_fixed_32(x) >> 1);
  int p = EXPM1_5 + (int)(((long)EXPM1_6 * fixed) >> 31);
  p = EXPM1_4 + (int)(((long)p * fixed) >> 31);
  p = EXPM1_3 + (int)(((long)p * fixed) >> 31);
  p = EXPM1_2 + (int)(((long)p * fixed) >> 31);
  p = EXPM1_1 + (int)(((long)p * fixed) >> 31);
  p = EXPM1_0 + (int)(((long)p * fixed) >> 31);
  return x > -0.5f && x < 0.69f ? x * _from_fixed(p, 30) : exp(x) - 1.0f;
}
