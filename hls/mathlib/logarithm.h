// The natural logarithm in fixed point.
#ifndef LOGARITHM_H
#define LOGARITHM_H
#include "fixed.h"

__constant ushort _log_reciprocals[64] = LOG_RECIPROCALS;
__constant long _log_values[64] = LOG_VALUES;

// The bits of a positive number as a normal one: a subnormal is multiplied by 2^149.
uint _normal_bits(uint bits) {
  return bits < 0x800000u ? as_uint((float)bits) : bits;
}

// The power of two that goes with _normal_bits: x = significand * 2^exponent, the significand from sqrt(1/2) to sqrt(2).
int _log_exponent(uint bits) {
  uint normal = _normal_bits(bits);
  int exponent = (int)(normal >> 23) - (bits < 0x800000u ? 127 + 149 : 127);
  return exponent + ((normal >> 17 & 63) >= LOG_SPLIT);
}

// The logarithm of that significand in Q.56, with 30 bits of precision however small it is.
//
// Its first bits choose a reciprocal close to it, so that log(significand) = log(significand * reciprocal) -
// log(reciprocal), and the first of these is a short polynomial. Close to 1 the reciprocal is 1 and its logarithm 0.
long _log_significand(uint bits) {
  uint normal = _normal_bits(bits);
  uint interval = normal >> 17 & 63;
  uint product = (normal & 0x7fffff | 0x800000) * _log_reciprocals[interval];
  int r = (int)(interval >= LOG_SPLIT ? product : product << 1);  // Q.32 without the unit
  int p = LOG1P_3 + mul_hi(LOG1P_4, r);
  p = LOG1P_2 + mul_hi(p, r);
  p = LOG1P_1 + mul_hi(p, r);
  p = LOG1P_0 + mul_hi(p, r);
  return (_log_values[interval] << 16) + (((long)r * p) >> 6);
}

// What a logarithm is where there is nothing to compute.
float _log_special(float x, float result) {
  result = x == INFINITY ? INFINITY : result;
  result = x == 0.0f ? -INFINITY : result;
  return x >= 0.0f ? result : NAN;
}

#endif
