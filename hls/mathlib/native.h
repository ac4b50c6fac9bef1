// Piecewise linear interpolation: a function on a small interval is its value at the start, plus or minus a short product.
#ifndef NATIVE_H
#define NATIVE_H
#include "native_coefficients.h"

__constant uint _native_exp2_lines[32] = NATIVE_EXP2;
__constant uint _native_log2_lines[64] = NATIVE_LOG2;
__constant uint _native_ln_lines[64] = NATIVE_LN;
__constant uint _native_log10_lines[64] = NATIVE_LOG10;
__constant uint _native_sine_lines[16] = NATIVE_SINE;
__constant uint _native_cosine_lines[16] = NATIVE_COSINE;
__constant uint _native_recip_lines[32] = NATIVE_RECIP;
__constant uint _native_root_lines[64] = NATIVE_ROOT;
__constant uint _native_rsqrt_lines[64] = NATIVE_RSQRT;

// A line holds the value at the start, Q.16, above 13 bits of the change over the interval; rest is the position in it, 11 bits.
uint _rising(uint line, uint rest) {
  return (line >> 13) + (((line & 0x1fff) * (rest & 0x7ff)) >> 11);
}

uint _falling(uint line, uint rest) {
  return (line >> 13) - (((line & 0x1fff) * (rest & 0x7ff)) >> 11);
}

// A signed Q.n number as a float, rounded once.
float _native_from_fixed(long x, int n) {
  return x == 0 ? 0.0f : as_float(as_int((float)x) - (n << 23));
}

// size * 2^n for a size from 1/4 to 4 in bits, with the sign: zero below the least normal number, infinite above the largest.
float _native_scaled(uint size, int n, uint sign) {
  int exponent = (int)(size >> 23) + n;
  uint bits = ((uint)exponent << 23) | (size & 0x7fffff);
  bits = exponent <= 0 ? 0 : exponent >= 255 ? 0x7f800000u : bits;
  return as_float(bits | (sign & 0x80000000u));
}

bool _native_zero(uint bits) {
  return (bits & 0x7f800000) == 0;
}

// x in Q.18; x * factor for a factor in Q.22, in Q.16.
int _native_fixed(float x) {
  return (int)as_float(as_int(x) + (18 << 23));
}

int _native_product(float x, long factor) {
  return (int)((_native_fixed(x) * factor) >> 24);
}

// 2^t for t in Q.16; whether it overflows or underflows is decided by x alone.
float _native_power(float x, int t) {
  int whole = t >> 16;
  uint significand = _rising(_native_exp2_lines[t >> 11 & 31], (uint)t);
  float result = _native_scaled(0x3f800000u + ((significand - 0x10000u) << 7), whole, 0);
  result = x < -200.0f ? 0.0f : result;
  result = x > 200.0f ? INFINITY : result;
  result = _native_zero(as_uint(x)) ? 1.0f : result;
  return x != x ? x : result;
}

// The significand from 3/4 to 3/2, less 1: Q.24.
int _native_log_argument(uint bits) {
  int fraction = (int)(bits & 0x7fffff);
  return bits & 0x400000 ? fraction - 0x800000 : fraction << 1;
}

uint _native_log_place(uint bits) {
  return (uint)(_native_log_argument(bits) + 0x400000);
}

// The logarithm: that of the power of two (unit is the logarithm of 2, in Q.24), plus the argument times a line.
float _native_logarithm(uint bits, int unit, uint line) {
  int exponent = (int)(bits >> 23 & 255) - 127 + (bits & 0x400000 ? 1 : 0);
  long part = (long)_native_log_argument(bits) * (int)_falling(line, _native_log_place(bits) >> 7);
  float result = _native_from_fixed(((exponent * (long)unit) << 16) + part, 40);
  float x = as_float(bits);
  result = x == INFINITY ? x : result;
  result = _native_zero(bits) ? -INFINITY : result;
  return x != x || x < 0.0f && !_native_zero(bits) ? NAN : result;
}

// x * 2/pi modulo 4 in Q.62 for an |x| from 2^-11 to 2^17, to 2^-40.
ulong _native_quarter_turns(uint bits) {
  int exponent = (int)(bits >> 23 & 255) - 127;
  ulong significand = bits & 0x7fffff | 0x800000;
  ulong product = ((significand * TWO_OVER_PI_HIGH) << 8) + ((significand * TWO_OVER_PI_LOW) >> 24);
  return exponent > 0 ? product << ((exponent - 1) & 31) : product >> ((1 - exponent) & 15);
}

// The square of the remainder of a quarter turn, Q.32: at most 1/4, which itself counts as just below.
uint _native_square(long rest) {
  int short_rest = (int)(rest >> 46);
  return min((uint)(short_rest * short_rest), 0x3fffffffu);
}

// Sine and cosine of the remainder, Q.60.
long _native_sine(long rest) {
  uint square = _native_square(rest);
  return (rest >> 18) * (long)_falling(_native_sine_lines[square >> 26], square >> 15);
}

long _native_cosine(long rest) {
  uint square = _native_square(rest);
  return (long)_falling(_native_cosine_lines[square >> 26], square >> 15) << 44;
}

#endif
