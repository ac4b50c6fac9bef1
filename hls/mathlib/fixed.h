// Conversion between floats and fixed point. A number "Q.n" is an integer with n bits below the point.
#ifndef FIXED_H
#define FIXED_H
#include "coefficients.h"

// x as Q.32, truncated; correct for |x| below 2^31. Adding to the exponent multiplies by 2^32; numbers so small that this
// is wrong become 0 anyway.
long _fixed_32(float x) {
  return (long)as_float(as_int(x) + (32 << 23));
}

// A signed Q.n number as a float, rounded once.
float _from_fixed(long x, int n) {
  return x == 0 ? 0.0f : as_float(as_int((float)x) - (n << 23));
}

// 2^t for t in Q.32 from -200 to 128, where it is infinite; results below the least normal number lose low-order bits.
float _power_of_two(long t) {
  int whole = (int)(t >> 32);
  uint part = (uint)t;
  uint p = EXP2_5 + mul_hi((uint)EXP2_6, part);
  p = EXP2_4 + mul_hi(p, part);
  p = EXP2_3 + mul_hi(p, part);
  p = EXP2_2 + mul_hi(p, part);
  p = EXP2_1 + mul_hi(p, part);
  uint significand = EXP2_0 + mul_hi(p, part);  // Q.30, from 1 to 2
  int subnormal = clamp(-126 - whole, 0, 31);
  uint exponent = (uint)max(whole + 126, 0);
  return as_float((exponent << 23) + (((significand >> subnormal) + 0x40u) >> 7));
}

#endif
