// Logarithms to the bases e, 2 and 10.
#include "logarithm.h"

float log(float x) {
  uint bits = as_uint(x);
  long sum = _log_exponent(bits) * (long)LN_2_56 + _log_significand(bits);
  return _log_special(x, _from_fixed(sum, 56));
}

// Exact for powers of two.
float log2(float x) {
  uint bits = as_uint(x);
  float part = _from_fixed(_log_significand(bits), 56) * 1.4426950408889634f;
  return _log_special(x, (float)_log_exponent(bits) + part);
}

float log10(float x) {
  uint bits = as_uint(x);
  float part = _from_fixed(_log_significand(bits), 56) * 0.4342944819032518f;
  return _log_special(x, fma((float)_log_exponent(bits), 0.30102999566398120f, part));
}
