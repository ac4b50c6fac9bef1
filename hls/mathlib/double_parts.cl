// Functions on the parts of a double, and remainders: exact, or rounded once.
#include "double_fixed.h"

#define HALVES 0x7fffffffffffffffL
#define UNIT 0x10000000000000L
#define INFINITE 0x7ff0000000000000L

// size * 2^(exponent - 1075), which must be a double
double _packed(ulong size, int exponent) {
  int shift = (int)clz(size) - 11;
  int normal = exponent - shift;
  ulong bits = ((ulong)normal << 52) + ((size << (shift & 63)) - UNIT);
  ulong subnormal = size << (exponent - 1 & 63);
  return as_double(size == 0 ? 0 : normal > 0 ? bits : subnormal);
}

// The exponent: that in the field of a normal number, that of the leading bit of a subnormal one.
int _exponent_of(ulong bits) {
  return (int)(_normal_bits(bits) >> 52) - (bits < UNIT ? 1074 : 0);
}

double ldexp(double x, int n) {
  ulong bits = as_ulong(x) & HALVES;
  int exponent = _exponent_of(bits) + clamp(n, -3000, 3000);
  ulong significand = _significand_of(_normal_bits(bits));
  int below = clamp(1 - exponent, 0, 63);
  ulong kept = significand >> below, lost = significand << (63 - below) << 1;
  ulong subnormal = kept + (lost > 1UL << 63 || lost == 1UL << 63 && kept & 1);
  ulong usual = ((ulong)exponent << 52) + (significand - UNIT);
  double result = as_double(exponent > 2046 ? INFINITE : exponent > 0 ? usual : subnormal);
  return bits == 0 || bits >= INFINITE ? x : copysign(result, x);
}

int ilogb(double x) {
  ulong bits = as_ulong(x) & HALVES;
  int result = bits >= INFINITE ? INT_MAX : _exponent_of(bits) - 1023;
  return bits == 0 ? INT_MIN : result;
}

double logb(double x) {
  ulong bits = as_ulong(x) & HALVES;
  double result = bits >= INFINITE ? as_double(bits) : (double)ilogb(x);
  return bits == 0 ? -INFINITY : result;
}

double nextafter(double x, double y) {
  long bits = as_long(x);
  long step = (x < y) == (bits >= 0) ? 1 : -1;
  double least = copysign(as_double(1L), y);
  double result = x == 0.0 ? least : as_double(bits + step);
  return x != x || y != y ? NAN : x == y ? y : result;
}

double nan(ulong code) {
  return as_double(0x7ff8000000000000L | code & 0x7ffffffffffffL);
}

double rsqrt(double x) {
  return 1.0 / sqrt(x);
}

// Both are scaled by the power of two of the larger one, so that no square overflows or underflows.
double hypot(double x, double y) {
  double across = fabs(x), up = fabs(y);
  double large = fmax(across, up), small = fmin(across, up);
  ulong exponent = clamp(as_ulong(large) >> 52, 1UL, 2045UL);
  double scale = as_double((2046 - exponent) << 52);
  large *= scale, small *= scale;
  double result = sqrt(fma(large, large, small * small)) * as_double(exponent << 52);
  result = x != x || y != y ? NAN : result;
  return across == INFINITY || up == INFINITY ? INFINITY : result;
}

ulong _digits_of(ulong bits) {
  return bits & UNIT - 1 | (bits < UNIT ? 0 : UNIT);
}

// One bit of the quotient in each iteration.
double fmod(double x, double y) {
  ulong a = as_ulong(x) & HALVES, b = as_ulong(y) & HALVES;
  int a_exponent = max((int)(a >> 52), 1), b_exponent = max((int)(b >> 52), 1);
  ulong digits = _digits_of(a) << 11, divisor = _digits_of(b), rest = 0;
  int turns = a < b || a >= INFINITE ? 0 : 53 + a_exponent - b_exponent;
  for (int k = 0; k < turns; k++) {
    rest = rest << 1 | digits >> 63;
    digits <<= 1;
    rest = rest >= divisor ? rest - divisor : rest;
  }
  double result = a < b ? x : copysign(_packed(rest, b_exponent), x);
  return a >= INFINITE || b > INFINITE || b == 0 ? NAN : result;
}

// As fmod in units of half a bit; then the divisor is subtracted once more if that is nearer.
double remainder(double x, double y) {
  ulong a = as_ulong(x) & HALVES, b = as_ulong(y) & HALVES;
  int a_exponent = max((int)(a >> 52), 1), b_exponent = max((int)(b >> 52), 1);
  ulong digits = _digits_of(a) << 11, divisor = _digits_of(b) << 1, rest = 0;
  bool odd = false;
  int apart = a_exponent - b_exponent;
  bool near = apart < -1 || a == 0 || b >= INFINITE;
  int turns = near || a >= INFINITE ? 0 : 54 + apart;
  for (int k = 0; k < turns; k++) {
    rest = rest << 1 | digits >> 63;
    digits <<= 1;
    odd = rest >= divisor;
    rest = odd ? rest - divisor : rest;
  }
  bool beyond = rest + rest > divisor || rest + rest == divisor && odd;
  ulong size = beyond ? divisor - rest : rest;
  // a size with a half bit has no more than 52 other bits, and an exponent one lower exists
  double whole = _packed(size >> 1, b_exponent), lower = _packed(size, b_exponent - 1);
  double result = copysign(size & 1 ? lower : whole, x);
  result = near ? x : beyond ? -result : result;
  return a >= INFINITE || b > INFINITE || b == 0 ? NAN : result;
}
