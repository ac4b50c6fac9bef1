// The natural logarithm in fixed point.
#ifndef LOGARITHM_H
#define LOGARITHM_H
#include "fixed.h"

__constant ushort _log_reciprocals[64] = LOG_RECIPROCALS;
__constant long _log_values[64] = LOG_VALUES;
__constant long _log2_values[64] = LOG2_VALUES;

// The bits of a positive number as a normal one: a subnormal is multiplied by 2^149.
uint _normal_bits(uint bits) {
  return bits < 0x800000u ? as_uint((float)bits) : bits;
}

// The exponent that belongs to _normal_bits: x = significand * 2^exponent, the significand from sqrt(1/2) to sqrt(2).
int _log_exponent(uint bits) {
  uint normal = _normal_bits(bits);
  int exponent = (int)(normal >> 23) - (bits < 0x800000u ? 127 + 149 : 127);
  return exponent + ((normal >> 17 & 63) >= LOG_SPLIT);
}

// The first bits of the significand select a reciprocal close to it, so that log(significand) =
// log(significand * reciprocal) - log(reciprocal), and the first term is a short polynomial. Close to 1 the
// reciprocal is 1 and its logarithm 0.
uint _log_interval(uint bits) {
  return _normal_bits(bits) >> 17 & 63;
}

// significand * reciprocal - 1 in Q.32
int _log_argument(uint bits) {
  uint interval = _log_interval(bits);
  uint product = (_normal_bits(bits) & 0x7fffff | 0x800000) * _log_reciprocals[interval];
  return (int)(interval >= LOG_SPLIT ? product : product << 1);
}

// The logarithm of the significand to the base e, and that to the base 2, in Q.56: with 30 bits of precision however
// small it is.
long _ln_significand(uint bits) {
  int r = _log_argument(bits);
  int p = LOG1P_3 + mul_hi(LOG1P_4, r);
  p = LOG1P_2 + mul_hi(p, r);
  p = LOG1P_1 + mul_hi(p, r);
  p = LOG1P_0 + mul_hi(p, r);
  return (_log_values[_log_interval(bits)] << 16) + (((long)r * p) >> 6);
}

long _log2_significand(uint bits) {
  int r = _log_argument(bits);
  int p = LOG2P_3 + mul_hi(LOG2P_4, r);
  p = LOG2P_2 + mul_hi(p, r);
  p = LOG2P_1 + mul_hi(p, r);
  p = LOG2P_0 + mul_hi(p, r);
  return (_log2_values[_log_interval(bits)] << 16) + (((long)r * p) >> 6);
}

// The natural logarithm in Q.56.
long _ln_fixed(uint bits) {
  return _log_exponent(bits) * (long)LN_2_56 + _ln_significand(bits);
}

// The logarithm to the base 2 in Q.55; exact for powers of two.
long _log2_fixed(uint bits) {
  return ((long)_log_exponent(bits) << 55) + (_log2_significand(bits) >> 1);
}

// The logarithm of zero, infinity, negative numbers and NaN; `result` for others.
float _log_special(float x, float result) {
  result = x == INFINITY ? INFINITY : result;
  result = x == 0.0f ? -INFINITY : result;
  return x >= 0.0f ? result : NAN;
}

#endif
