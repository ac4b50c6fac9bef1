// Logarithms to the bases e, 2 and 10.
#include "logarithm.h"

float log(float x) {
  return _log_special(x, _from_fixed(_ln_fixed(as_uint(x)), 56));
}

float log2(float x) {
  return _log_special(x, _from_fixed(_log2_fixed(as_uint(x)), 55));
}

float log10(float x) {
  return _log_special(x, _from_fixed(_log2_fixed(as_uint(x)), 55) * 0.30102999566398120f);
}

// Close to 0 a polynomial; elsewhere log(1 + x), and the rounding error of the sum, divided by the sum with 8 bits of precision.
float log1p(float x) {
  int fixed = (int)_fixed_32(x);
  int p = LOG1P_3 + mul_hi(LOG1P_4, fixed);
  p = LOG1P_2 + mul_hi(p, fixed);
  p = LOG1P_1 + mul_hi(p, fixed);
  p = LOG1P_0 + mul_hi(p, fixed);
  float sum = 1.0f + x;
  float lost = x > 1.0f ? 1.0f - (sum - x) : x - (sum - 1.0f);
  uint bits = as_uint(sum);
  int exponent = _log_exponent(bits);
  long part = _fixed_32(as_float(as_int(lost) + ((16 - exponent) << 23))) * _log_reciprocals[_log_interval(bits)];
  long whole = exponent * (long)LN_2_56 + _ln_significand(bits) + (lost == 0.0f ? 0 : part);
  float result = _log_special(sum, _from_fixed(whole, 56));
  return fabs(x) < 0.0165f ? x * _from_fixed(p, 30) : result;
}
