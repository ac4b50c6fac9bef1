// The error function and its complement, in double.
#include "double_fixed.h"

// erf(x) for x up to 1
double _erf_near(double size) {
  ulong fixed = _fraction(size), z = size < 1.0 ? _high(fixed, fixed) : 0xffffffffffffffffUL;
  long p = ERF_13 + _times_part(ERF_14, z);
  p = ERF_12 + _times_part(p, z);
  p = ERF_11 + _times_part(p, z);
  p = ERF_10 + _times_part(p, z);
  p = ERF_9 + _times_part(p, z);
  p = ERF_8 + _times_part(p, z);
  p = ERF_7 + _times_part(p, z);
  p = ERF_6 + _times_part(p, z);
  p = ERF_5 + _times_part(p, z);
  p = ERF_4 + _times_part(p, z);
  p = ERF_3 + _times_part(p, z);
  p = ERF_2 + _times_part(p, z);
  p = ERF_1 + _times_part(p, z);
  return size * _from_fixed(ERF_0 + _times_part(p, z), 62);
}

// p * s for signed p in Q.n and s in Q.63
long _by_signed(long p, long s) {
  return _high_signed(p, s) << 1;
}

// erfc(x) for x from 0.45 to 27.5: e^(-x^2) / (x + 4) times a polynomial of (x - 4) / (x + 4).
double _erfc_far(double size) {
  double reciprocal = 1.0 / (size + 4.0);
  long s = (long)((size - 4.0) * reciprocal * 0x1p63);
  long p = ERFC_21 + _by_signed(ERFC_22, s);
  p = ERFC_20 + _by_signed(p, s);
  p = ERFC_19 + _by_signed(p, s);
  p = ERFC_18 + _by_signed(p, s);
  p = ERFC_17 + _by_signed(p, s);
  p = ERFC_16 + _by_signed(p, s);
  p = ERFC_15 + _by_signed(p, s);
  p = ERFC_14 + _by_signed(p, s);
  p = ERFC_13 + _by_signed(p, s);
  p = ERFC_12 + _by_signed(p, s);
  p = ERFC_11 + _by_signed(p, s);
  p = ERFC_10 + _by_signed(p, s);
  p = ERFC_9 + _by_signed(p, s);
  p = ERFC_8 + _by_signed(p, s);
  p = ERFC_7 + _by_signed(p, s);
  p = ERFC_6 + _by_signed(p, s);
  p = ERFC_5 + _by_signed(p, s);
  p = ERFC_4 + _by_signed(p, s);
  p = ERFC_3 + _by_signed(p, s);
  p = ERFC_2 + _by_signed(p, s);
  p = ERFC_1 + _by_signed(p, s);
  p = ERFC_0 + _by_signed(p, s);
  double square = size * size;
  double lost = fma(size, size, -square);
  double power = exp(-square);
  return fma(-lost, power, power) * (_from_fixed(p, 61) * reciprocal);
}

// size, or 1 where the result of the complement is 0 or unused
double _erfc_inside(double size) {
  return size < 27.5 ? size : 1.0;
}

double erf(double x) {
  double size = fabs(x);
  double far = size < 6.0 ? 1.0 - _erfc_far(_erfc_inside(size)) : 1.0;
  return x != x ? x : copysign(size < 1.0 ? _erf_near(size) : far, x);
}

double erfc(double x) {
  double size = fabs(x);
  double near = 1.0 - copysign(_erf_near(size), x), far = size < 27.5 ? _erfc_far(_erfc_inside(size)) : 0.0;
  double result = size < 0.45 ? near : x < 0.0 ? 2.0 - far : far;
  return x != x ? x : result;
}
