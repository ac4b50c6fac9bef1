// The gamma function and its logarithm.
//
// From 1 to 3 log(gamma(y)) is (y - 1) * (y - 2) times a polynomial for each quarter; from 3 on Stirling's formula, less 1/2 on both
// sides, (y - 1/2) * (log(y) - 1) + log(2 * pi) / 2 - 1/2 + r(y), of which no term is negative. Below 1 it is
// gamma(x) = gamma(x + 1) / x, below 0 the reflection gamma(-a) = -pi / (sin(pi * a) * a * gamma(a)).
#include "logarithm.h"
#include "polynomial.h"

__constant int _gamma_0[8] = GAMMA_0;
__constant int _gamma_1[8] = GAMMA_1;
__constant int _gamma_2[8] = GAMMA_2;
__constant int _gamma_3[8] = GAMMA_3;
__constant int _gamma_4[8] = GAMMA_4;
__constant int _gamma_5[8] = GAMMA_5;
__constant int _gamma_6[8] = GAMMA_6;

// log(gamma(y)) in Q.56 for y in Q.30 from 1 to 3. The factor close to 0 is multiplied last, with its exact value.
long _gamma_near(uint y) {
  uint quarter = (y - (1u << 30)) >> 28 & 7, u = y << 4;
  int p = _gamma_5[quarter] + _times(_gamma_6[quarter], u);
  p = _gamma_4[quarter] + _times(p, u);
  p = _gamma_3[quarter] + _times(p, u);
  p = _gamma_2[quarter] + _times(p, u);
  p = _gamma_1[quarter] + _times(p, u);
  p = _gamma_0[quarter] + _times(p, u);
  long past_1 = (long)y - (1L << 30), past_2 = (long)y - (2L << 30);
  bool low = y < 3u << 29;
  long rest = ((low ? past_2 : past_1) * p) >> 28;
  return (rest * (low ? past_1 : past_2)) >> 6;
}

// The argument of _gamma_near in Q.30: |x|, plus 1 if it is less than 1.
uint _gamma_argument(float size) {
  uint fixed = (uint)(_fixed_32(size) >> 2);
  return size < 1.0f ? fixed + (1u << 30) : fixed;
}

// log(2 * pi) / 2 - 1/2 + r(y) in Q.30 for y from 3 on
int _stirling_rest(float y) {
  float v = 1.0f / y;
  uint z = _square_of(v);
  int p = STIRLING_2 + _times(STIRLING_3, z);
  p = STIRLING_1 + _times(p, z);
  p = STIRLING_0 + _times(p, z);
  return STIRLING_BASE_30 + _times(p, (uint)_fixed_32(v));
}

// Whether x is far enough below 0 for the reflection; closer to 0 the gamma function is 1 / x on both sides.
bool _gamma_reflects(float x) {
  return x < -0x1p-30f;
}

// The divisor of gamma(|x|), or of gamma(|x| + 1) if |x| is less than 1; with reflection the divisor of pi.
float _gamma_divisor(float x) {
  float size = fabs(x);
  float sine = fabs(sinpi(size));
  float reflected = size < 1.0f ? sine : sine * size;
  return _gamma_reflects(x) ? reflected : size < 1.0f ? size : 1.0f;
}

bool _gamma_pole(float x) {
  return x == 0.0f || x < 0.0f && x == floor(x);
}

float lgamma(float x) {
  float size = fabs(x);
  bool reflects = _gamma_reflects(x);
  long rest = (reflects ? LN_PI_56 : 0L) - _ln_fixed(as_uint(_gamma_divisor(x)));
  long near = _gamma_near(_gamma_argument(size));
  float close = _from_fixed(reflects ? rest - near : rest + near, 56);
  float logarithm = _from_fixed(_ln_fixed(as_uint(size)) - (1L << 56), 56);
  float far = fma(size - 0.5f, logarithm, _from_fixed(_stirling_rest(size), 30));
  far = reflects ? _from_fixed(rest, 56) - far : far;
  float result = size < 3.0f ? close : far;
  result = size == INFINITY || _gamma_pole(x) ? INFINITY : result;
  return x != x ? x : result;
}

// The sign of gamma(x): that of x at 0, and 0 where it is undefined.
int _gamma_sign(float x) {
  float whole = floor(x);
  bool odd = whole != 2.0f * floor(0.5f * whole);
  int sign = x < 0.0f && odd ? -1 : 1;
  sign = x == 0.0f && as_int(x) < 0 ? -1 : sign;
  return x != x || x < 0.0f && x == whole ? 0 : sign;
}

float tgamma(float x) {
  float size = fabs(x);
  bool reflects = _gamma_reflects(x);
  long near = ((_gamma_near(_gamma_argument(size)) >> 24) * LOG2_E_31) >> 31;
  // beyond 44 all results are infinite or 0
  float inside = size < 44.0f ? size : 44.0f;
  long above = (_fixed_32(inside) >> 10) - (1L << 21);
  long logarithm = (_log2_fixed(as_uint(inside)) - LOG2_E_55) >> 22;
  long far = ((above * logarithm) >> 23) + ((_stirling_rest(inside) * (long)LOG2_E_31) >> 29);
  long t = size < 3.0f ? near : far;
  long rest = ((reflects ? LOG2_PI_55 : 0L) - _log2_fixed(as_uint(_gamma_divisor(x)))) >> 23;
  t = rest + (reflects ? -t : t);
  float power = _power_of_two(clamp(t, -(200L << 32), 128L << 32));
  float result = t >= 128L << 32 ? INFINITY : t < -(151L << 32) ? 0.0f : power;
  result = _gamma_sign(x) < 0 ? -result : result;
  result = x == 0.0f ? copysign(INFINITY, x) : result;
  result = x < 0.0f && x == floor(x) ? NAN : result;
  return x == INFINITY || x != x ? x : result;
}
