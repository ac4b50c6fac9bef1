// Logarithms to the bases e, 2 and 10.
#include "logarithm.h"

float log(float x) {
  uint bits = as_uint(x);
  long sum = _log_exponent(bits) * (long)LN_2_56 + _ln_significand(bits);
  return _log_special(x, _from_fixed(sum, 56));
}

float log2(float x) {
  return _log_special(x, _from_fixed(_log2_fixed(as_uint(x)), 55));
}

float log10(float x) {
  return _log_special(x, _from_fixed(_log2_fixed(as_uint(x)), 55) * 0.30102999566398120f);
}
