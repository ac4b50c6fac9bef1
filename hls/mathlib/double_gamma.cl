// The gamma function and its logarithm, in double: as those of float in gamma.cl.
//
// From 1 to 3 log(gamma(y)) is (y - 1) * (y - 2) times a polynomial for each eighth, with y - 1 and y - 2 exact; from 3 on
// Stirling's formula. Below 1 it is gamma(x) = gamma(x + 1) / x, below 0 the reflection.
#include "double_exponential.h"
#include "double_logarithm.h"

#define PI 3.14159265358979324
#define LN_PI 1.14472988584940017
#define LOG2_E 1.44269504088896341
// log(2 * pi) / 2 - 1/2
#define STIRLING_BASE 0.418938533204672742

__constant long _gamma_0[16] = GAMMA_0;
__constant long _gamma_1[16] = GAMMA_1;
__constant long _gamma_2[16] = GAMMA_2;
__constant long _gamma_3[16] = GAMMA_3;
__constant long _gamma_4[16] = GAMMA_4;
__constant long _gamma_5[16] = GAMMA_5;
__constant long _gamma_6[16] = GAMMA_6;
__constant long _gamma_7[16] = GAMMA_7;
__constant long _gamma_8[16] = GAMMA_8;
__constant long _gamma_9[16] = GAMMA_9;
__constant long _gamma_10[16] = GAMMA_10;
__constant long _gamma_11[16] = GAMMA_11;

// log(gamma(y)) for a size below 3, where y is the size, or if that is less than 1 the size plus 1
double _gamma_near(double size) {
  double inside = size < 3.0 ? size : 1.0;
  ulong fraction = _fraction(inside), u = fraction << 3;
  int eighth = (int)(fraction >> 61) + (inside >= 2.0 ? 8 : 0);
  long p = _gamma_10[eighth] + _times_part(_gamma_11[eighth], u);
  p = _gamma_9[eighth] + _times_part(p, u);
  p = _gamma_8[eighth] + _times_part(p, u);
  p = _gamma_7[eighth] + _times_part(p, u);
  p = _gamma_6[eighth] + _times_part(p, u);
  p = _gamma_5[eighth] + _times_part(p, u);
  p = _gamma_4[eighth] + _times_part(p, u);
  p = _gamma_3[eighth] + _times_part(p, u);
  p = _gamma_2[eighth] + _times_part(p, u);
  p = _gamma_1[eighth] + _times_part(p, u);
  p = _gamma_0[eighth] + _times_part(p, u);
  double past_1 = inside < 1.0 ? inside : inside - 1.0, past_2 = inside < 1.0 ? inside - 1.0 : inside - 2.0;
  return _from_fixed(p, 62) * past_1 * past_2;
}

// What Stirling's formula leaves of log(gamma(y)), for y from 3 on.
double _stirling_rest(double y) {
  double v = 1.0 / y;
  ulong z = _fraction(v * v);
  long p = STIRLING_10 + _times_part(STIRLING_11, z);
  p = STIRLING_9 + _times_part(p, z);
  p = STIRLING_8 + _times_part(p, z);
  p = STIRLING_7 + _times_part(p, z);
  p = STIRLING_6 + _times_part(p, z);
  p = STIRLING_5 + _times_part(p, z);
  p = STIRLING_4 + _times_part(p, z);
  p = STIRLING_3 + _times_part(p, z);
  p = STIRLING_2 + _times_part(p, z);
  p = STIRLING_1 + _times_part(p, z);
  p = STIRLING_0 + _times_part(p, z);
  return _from_fixed(p, 62) * v;
}

// Whether x is far enough below 0 for the reflection; closer to 0 the gamma function is 1 / x on both sides.
bool _gamma_reflects(double x) {
  return x < -0x1p-60;
}

// |sin(pi * size)|, by the distance from the nearest integer
double _gamma_sine(double size) {
  double distance = fabs(size - rint(size));
  ulong fixed = _fraction(distance), z = _high(fixed, fixed);
  long p = SINPI_9 + _times_part(SINPI_10, z);
  p = SINPI_8 + _times_part(p, z);
  p = SINPI_7 + _times_part(p, z);
  p = SINPI_6 + _times_part(p, z);
  p = SINPI_5 + _times_part(p, z);
  p = SINPI_4 + _times_part(p, z);
  p = SINPI_3 + _times_part(p, z);
  p = SINPI_2 + _times_part(p, z);
  p = SINPI_1 + _times_part(p, z);
  p = SINPI_0 + _times_part(p, z);
  return _from_fixed(p, 60) * distance;
}

// The divisor of gamma(|x|), or of gamma(|x| + 1) if |x| is less than 1; with reflection the divisor of pi.
double _gamma_divisor(double x) {
  double size = fabs(x);
  double sine = _gamma_sine(size);
  double reflected = size < 1.0 ? sine : sine * size;
  return _gamma_reflects(x) ? reflected : size < 1.0 ? size : 1.0;
}

bool _gamma_pole(double x) {
  return x == 0.0 || x < 0.0 && x == floor(x);
}

double lgamma(double x) {
  double size = fabs(x);
  bool reflects = _gamma_reflects(x);
  double rest = (reflects ? LN_PI : 0.0) - log(_gamma_divisor(x));
  ulong bits = as_ulong(size);
  int places = _log2_places(bits) & 63;
  // log(size) - 1, in fixed point as most of it may cancel
  double logarithm = _from_fixed(_times_part(_log2_fixed(bits), LN_2_64) - (1L << places), places);
  double far = fma(size - 0.5, logarithm, STIRLING_BASE + _stirling_rest(size));
  double upright = size < 3.0 ? _gamma_near(size) : far;
  double result = reflects ? rest - upright : size < 3.0 ? rest + upright : far;
  result = size == INFINITY || _gamma_pole(x) ? INFINITY : result;
  return x != x ? x : result;
}

// The sign of gamma(x): that of x at 0, and 0 where it is undefined.
int _gamma_sign(double x) {
  double whole = floor(x);
  bool odd = whole != 2.0 * floor(0.5 * whole);
  int sign = x < 0.0 && odd ? -1 : 1;
  sign = x == 0.0 && as_long(x) < 0 ? -1 : sign;
  return x != x || x < 0.0 && x == whole ? 0 : sign;
}

// log2(gamma(y)) in Q.52 for y from 3 to 256: (y - 1/2) * (log2(y) - log2(e)) and what follows, of which no term is negative
long _gamma_far_52(double y) {
  ulong above = (ulong)((y - 0.5) * 0x1p56);
  ulong bits = as_ulong(y);
  ulong logarithm = ((ulong)_log2_fixed(bits) << (61 - _log2_places(bits) & 63)) - LOG2_E_61;
  return (long)(_high(above, logarithm) >> 1) + (long)((STIRLING_BASE + _stirling_rest(y)) * (LOG2_E * 0x1p52));
}

double tgamma(double x) {
  double size = fabs(x);
  bool reflects = _gamma_reflects(x);
  // beyond 200 all results are infinite or 0
  double inside = clamp(size, 3.0, 200.0);
  long near = (long)(_gamma_near(size) * (LOG2_E * 0x1p52));
  long t = size < 3.0 ? near : _gamma_far_52(inside);
  // with reflection 2^300 times the result, so that only the last product is rounded to a subnormal number
  double power = _power_of_two(reflects ? (300L << 52) - t : min(t, (1024L << 52) - 1));
  double result = (reflects ? PI * power : power) / _gamma_divisor(x) * (reflects ? 0x1p-300 : 1.0);
  result = t >= 1024L << 52 && !reflects ? INFINITY : result;
  result = _gamma_sign(x) < 0 ? -result : result;
  result = x == 0.0 ? copysign(INFINITY, x) : result;
  result = x < 0.0 && x == floor(x) ? NAN : result;
  return x == INFINITY || x != x ? x : result;
}
