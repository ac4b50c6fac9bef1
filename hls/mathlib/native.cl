// The native_ and half_ functions of float: 8192 ULP are allowed, so that linear interpolation replaces polynomials. A subnormal
// argument counts as zero, and results below the least normal number are zero. Angles may be up to 65536; beyond, results are undefined.
#include "native.h"

float _native_exp2(float x) {
  return _native_power(x, _native_fixed(x) >> 2);
}

float _native_exp(float x) {
  return _native_power(x, _native_product(x, NATIVE_LOG2_E_22));
}

float _native_exp10(float x) {
  return _native_power(x, _native_product(x, NATIVE_LOG2_10_22));
}

float _native_log2(float x) {
  return _native_logarithm(as_uint(x), 1 << 24, _native_log2_lines[_native_log_place(as_uint(x)) >> 18]);
}

float _native_log(float x) {
  return _native_logarithm(as_uint(x), NATIVE_LN_2_24, _native_ln_lines[_native_log_place(as_uint(x)) >> 18]);
}

float _native_log10(float x) {
  return _native_logarithm(as_uint(x), NATIVE_LOG10_2_24, _native_log10_lines[_native_log_place(as_uint(x)) >> 18]);
}

float _native_sin(float x) {
  uint bits = as_uint(x);
  bool tiny = fabs(x) < 0.0009765625f;
  ulong turns = _native_quarter_turns(bits);
  uint quarter = (uint)((turns + (1UL << 61)) >> 62);
  long rest = (long)(turns << 2) >> 2;
  long size = quarter & 1 ? _native_cosine(rest) : _native_sine(rest);
  float result = _native_from_fixed(size, 60);
  result = as_float(as_uint(result) ^ (bits & 0x80000000u) ^ (quarter & 2 ? 0x80000000u : 0u));
  result = tiny ? x : result;
  result = _native_zero(bits) ? as_float(bits & 0x80000000u) : result;
  return fabs(x) < INFINITY ? result : NAN;
}

float _native_cos(float x) {
  uint bits = as_uint(x);
  bool tiny = fabs(x) < 0.0009765625f;
  ulong turns = _native_quarter_turns(bits);
  uint quarter = (uint)((turns + (1UL << 61)) >> 62);
  long rest = (long)(turns << 2) >> 2;
  long size = quarter & 1 ? _native_sine(rest) : _native_cosine(rest);
  float result = _native_from_fixed(size, 60);
  result = as_float(as_uint(result) ^ (quarter + 1 & 2 ? 0x80000000u : 0u));
  result = tiny ? 1.0f : result;
  return fabs(x) < INFINITY ? result : NAN;
}

float _native_recip(float x) {
  uint bits = as_uint(x);
  uint size = _falling(_native_recip_lines[bits >> 18 & 31], bits >> 7);  // from 1/2, but for it, to 1
  bool whole = (bits & 0x7fffff) == 0;
  uint significand = whole ? 0x3f800000u : 0x3f000000u + ((size - 0x8000u) << 8);
  float result = _native_scaled(significand, 127 - (int)(bits >> 23 & 255), bits);
  result = _native_zero(bits) ? as_float(0x7f800000u | (bits & 0x80000000u)) : result;
  result = fabs(x) == INFINITY ? as_float(bits & 0x80000000u) : result;
  return x != x ? x : result;
}

float _native_divide(float x, float y) {
  uint bits = as_uint(y), top = as_uint(x);
  uint size = _falling(_native_recip_lines[bits >> 18 & 31], bits >> 7);
  bool whole = (bits & 0x7fffff) == 0;
  uint significand = whole ? 0x10000u : size;  // Q.16, above 1/2
  uint product = (top >> 8 & 0x7fff | 0x8000) * significand;  // Q.31, from 1/2 to 2
  bool high = product >> 31;
  uint fraction = high ? product >> 8 : product >> 7;
  int exponent = (int)(top >> 23 & 255) - (int)(bits >> 23 & 255);
  float result = _native_scaled((high ? 0x3f800000u : 0x3f000000u) | (fraction & 0x7fffff), exponent, bits ^ top);
  uint sign = (bits ^ top) & 0x80000000u;
  bool none = _native_zero(bits), nothing = _native_zero(top), endless = fabs(y) == INFINITY, infinite = fabs(x) == INFINITY;
  result = none || infinite ? as_float(0x7f800000u | sign) : result;
  result = nothing || endless ? as_float(sign) : result;
  return none && nothing || endless && infinite || x != x || y != y ? NAN : result;
}

float _native_tan(float x) {
  uint bits = as_uint(x);
  bool tiny = fabs(x) < 0.0009765625f;
  ulong turns = _native_quarter_turns(bits);
  uint quarter = (uint)((turns + (1UL << 61)) >> 62);
  long rest = (long)(turns << 2) >> 2;
  float sine = _native_from_fixed(_native_sine(rest), 60), cosine = _native_from_fixed(_native_cosine(rest), 60);
  float result = _native_divide(quarter & 1 ? -cosine : sine, quarter & 1 ? sine : cosine);
  result = as_float(as_uint(result) ^ (bits & 0x80000000u));
  result = tiny ? x : result;
  result = _native_zero(bits) ? as_float(bits & 0x80000000u) : result;
  return fabs(x) < INFINITY ? result : NAN;
}

// The interval: whether the exponent is odd, and the first bits after the point.
float _native_sqrt(float x) {
  uint bits = as_uint(x);
  int exponent = (int)(bits >> 23 & 255) - 127;
  uint size = _rising(_native_root_lines[(uint)(exponent & 1) << 5 | (bits >> 18 & 31)], bits >> 7);
  float result = _native_scaled(0x3f800000u + ((size - 0x10000u) << 7), exponent >> 1, 0);
  result = x == INFINITY ? x : result;
  result = x < 0.0f || x != x ? NAN : result;
  return _native_zero(bits) ? as_float(bits & 0x80000000u) : result;
}

float _native_rsqrt(float x) {
  uint bits = as_uint(x);
  int exponent = (int)(bits >> 23 & 255) - 127;
  uint size = _falling(_native_rsqrt_lines[(uint)(exponent & 1) << 5 | (bits >> 18 & 31)], bits >> 7);
  uint significand = size >= 0x10000u ? 0x3f800000u : 0x3f000000u + ((size - 0x8000u) << 8);
  float result = _native_scaled(significand, -(exponent >> 1), 0);
  result = x == INFINITY ? 0.0f : result;
  result = x < 0.0f || x != x ? NAN : result;
  return _native_zero(bits) ? as_float(0x7f800000u | (bits & 0x80000000u)) : result;
}
