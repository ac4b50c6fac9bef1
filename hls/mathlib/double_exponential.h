// Powers in fixed point: a table of 2^(k / 64), and a polynomial for the remainder.
#ifndef DOUBLE_EXPONENTIAL_H
#define DOUBLE_EXPONENTIAL_H
#include "double_fixed.h"

__constant ulong _powers[64] = EXP_POWERS;

// 2^(k / 64) * e^(v / 64) for v in Q.64 up to 0.694 and results that do not overflow; results that underflow become 0.
double _power(int k, ulong v) {
  ulong upper = v >> 32;
  ulong short_sum = EXP_4 + ((EXP_5 * upper) >> 32);
  short_sum = EXP_3 + ((short_sum * upper) >> 32);
  ulong sum = EXP_2 + _high(short_sum << 9, v);  // Q.62, from Q.53
  sum = EXP_1 + _high(sum, v);
  sum = EXP_0 + _high(sum, v);
  ulong power = _powers[k & 63];  // Q.62
  ulong significand = power + (_high(power, _high(sum, v)) >> 4);
  bool above = (significand >> 63) != 0;  // if k was truncated a little too low
  return _packed_62(above ? significand >> 1 : significand, clamp((k >> 6) + above, -1100, 1023));
}

// 2^t for t in Q.52 with |t| up to 1100
double _power_of_two(long t) {
  ulong fraction = (ulong)t << 12;
  return _power((int)(t >> 46), _high(fraction << 6, LN_2_64));
}

// A little less than 64 * x / unit, where factor is 64 / unit in Q.24.
int _sixty_fourths(double x, long factor) {
  long fixed = (long)as_double(as_long(x) + (20L << 52)) - (x < 0.0 ? 2 : 0);
  return (int)((fixed * factor) >> 44);
}

// x - k * unit in Q.64, where unit is high in Q.64 and low in Q.96
ulong _rest(double x, int k, ulong high, uint low) {
  return _fraction(x) - (ulong)(long)k * high - (ulong)((k * (long)low) >> 32);
}

// The result, or its limit if it overflows or underflows.
double _within(double x, double low, double high, double result) {
  result = x < low ? 0.0 : result;
  result = x >= high ? INFINITY : result;
  return x != x ? x : result;
}

#endif
