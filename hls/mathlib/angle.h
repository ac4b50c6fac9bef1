// Sine and cosine of an angle given as a number of quarter turns and a remainder of at most half a quarter turn.
#ifndef ANGLE_H
#define ANGLE_H
#include "polynomial.h"

__constant uint _two_over_pi[8] = TWO_OVER_PI;

// 32 bits of 2/pi from bit s of word k on.
uint _bits_of_two_over_pi(uint k, uint s) {
  return (uint)((((ulong)_two_over_pi[k] << 32 | _two_over_pi[k + 1]) << s) >> 32);
}

// x * 2/pi modulo 4 in Q.62 for an x of at least 1/2 (Payne and Hanek 1983): only those 96 bits of 2/pi matter whose
// product with the 24 bits of x is below 4 and above 2^-70.
ulong _quarter_turns(float x) {
  uint bits = as_uint(x);
  uint first = (bits >> 23) - 120;
  uint word = min(first >> 5, 4u), shift = first & 31;
  ulong significand = bits & 0x7fffff | 0x800000;
  ulong high = significand * _bits_of_two_over_pi(word, shift);
  ulong middle = significand * _bits_of_two_over_pi(word + 1, shift);
  ulong low = significand * _bits_of_two_over_pi(word + 2, shift);
  return (high << 32) + middle + (low >> 32);
}

// 2 * x modulo 4 in Q.62, exact, for an x of at least 1/4.
ulong _quarter_turns_of_half_turns(float x) {
  uint bits = as_uint(x);
  int shift = (int)(bits >> 23) - 87;
  ulong significand = bits & 0x7fffff | 0x800000;
  return shift > 63 ? 0 : significand << max(shift, 0);
}

// The nearest number of quarter turns, 0 to 3, and the remainder, from -1/2 to 1/2 in Q.62.
uint _nearest_quarter(ulong turns) {
  return (uint)((turns + (1UL << 61)) >> 62);
}

long _rest_of_quarter(ulong turns) {
  return (long)(turns << 2) >> 2;
}

// The remainder as an angle in Q.31.
int _angle(long rest) {
  return (int)(((rest >> 30) * (long)PI_2_31) >> 32);
}

uint _square(int angle) {
  return (uint)(((long)angle * angle) >> 30);
}

// sin(x) / x and cos(x) for x^2 in Q.32 up to (pi/4)^2.
float _sine_by_angle(uint z) {
  int p = SIN_2 + _times(SIN_3, z);
  p = SIN_1 + _times(p, z);
  return _from_fixed(SIN_0 + _times(p, z), 30);
}

float _cosine(uint z) {
  int p = COS_3 + _times(COS_4, z);
  p = COS_2 + _times(p, z);
  p = COS_1 + _times(p, z);
  return _from_fixed(COS_0 + _times(p, z), 30);
}

// The first operand with the sign of the second, inverted if `turned`.
float _with_sign(float size, float sign, bool turned) {
  return as_float(as_uint(size) ^ (as_uint(sign) & 0x80000000u) ^ (turned ? 0x80000000u : 0u));
}

#endif
