// Powers of a constant base: base^x = 2^(x * log2(base)), in fixed point.
#include "fixed.h"

// log2(base) * x in Q.32. First the whole part from 16 bits of the logarithm; what is left of x, exact to 2^-40, then
// needs only 31 bits of it. unit is log of 2 to the base.
long _binary_exponent(float x, long logarithm_16, long logarithm_31, long unit_40) {
  long fixed = _fixed_32(x);
  long whole = ((fixed >> 16) * logarithm_16) >> 32;
  long rest = (fixed << 8) - whole * unit_40;
  return (whole << 32) + (((rest >> 9) * logarithm_31) >> 30);
}

// The result where it is not too large or too small to compute.
float _within(float x, float low, float high, float result) {
  result = x < low ? 0.0f : result;
  result = x >= high ? INFINITY : result;
  return x != x ? x : result;
}

float exp2(float x) {
  return _within(x, -151.0f, 128.0f, _power_of_two(_fixed_32(x)));
}

float exp(float x) {
  long t = _binary_exponent(x, LOG2_E_16, LOG2_E_31, LN_2_40);
  return _within(x, -104.0f, 88.722839355f, _power_of_two(t));
}

float exp10(float x) {
  long t = _binary_exponent(x, LOG2_10_16, LOG2_10_31, LOG10_2_40);
  return _within(x, -45.5f, 38.5318419f, _power_of_two(t));
}
