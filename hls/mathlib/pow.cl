// Powers and roots.
#include "power.h"

float _float_power(float x, float y) {
  uint y_bits = as_uint(y);
  return _power(as_uint(x) & 0x7fffffff, y_bits << 8 | 0x80000000u, (int)(y_bits >> 23 & 255) - 158, y < 0.0f);
}

float pow(float x, float y) {
  int parity = _parity(y);
  float result = _float_power(x, y);
  bool negative = as_int(x) < 0;
  result = negative && parity == 1 ? -result : result;
  result = x < 0.0f && x > -INFINITY && parity == 0 && y == y ? NAN : result;
  result = x != x || y != y ? NAN : result;
  return x == 1.0f || y == 0.0f ? 1.0f : result;
}

float powr(float x, float y) {
  float result = _float_power(x, y);
  bool ends = x == 0.0f || x == INFINITY;
  bool undefined = x < 0.0f || ends && y == 0.0f || x == 1.0f && fabs(y) == INFINITY;
  return undefined || x != x || y != y ? NAN : result;
}

float pown(float x, int n) {
  uint size = n < 0 ? 0u - (uint)n : (uint)n;
  uint zeros = (uint)clz(size) & 31;
  float result = _power(as_uint(x) & 0x7fffffff, size << zeros, -(int)zeros, n < 0);
  result = as_int(x) < 0 && n & 1 ? -result : result;
  result = x != x ? x : result;
  return n == 0 ? 1.0f : result;
}

float rootn(float x, int n) {
  float size = fabs((float)n);
  float reciprocal = 1.0f / size;
  // the error of the reciprocal, as its 24 bits are not enough for up to 149 binary digits
  long rest = _fixed_32(fma(-size, reciprocal, 1.0f));
  uint bits = as_uint(reciprocal);
  long significand = bits << 8 | 0x80000000u;
  significand = min(significand + ((significand * rest) >> 32), 0xffffffffL);
  float result = _power(as_uint(x) & 0x7fffffff, (uint)significand, (int)(bits >> 23) - 158, n < 0);
  bool negative = as_int(x) < 0;
  result = negative && n & 1 ? -result : result;
  bool undefined = n == 0 || x < 0.0f && !(n & 1);
  return undefined || x != x ? NAN : result;
}

// The exponent is divided by 3 separately: its remainder and the fraction have 30 bits, which is enough.
float cbrt(float x) {
  uint bits = as_uint(x) & 0x7fffffff;
  int exponent = _log_exponent(bits) + 150;
  int whole = exponent / 3;
  long fraction = _log2_significand(bits) >> 26;
  long part = (((long)(exponent - 3 * whole) << 30) + fraction) * 1431655765L;
  float result = _power_of_two(((long)(whole - 50) << 32) + (part >> 30));
  return x == 0.0f || !(fabs(x) < INFINITY) ? x : copysign(result, x);
}
