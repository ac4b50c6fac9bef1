// Powers of any positive base: x^y = 2^(y * log2(x)) with the logarithm to 30 bits however small it is.
#ifndef POWER_H
#define POWER_H
#include "logarithm.h"

// The bits of |x|, and y as significand * 2^exponent with the significand's top bit set, or a y so small that its
// value does not matter. For an infinite x or y and an x of 0 only signs matter.
float _power(uint x, uint significand, int exponent, bool negative) {
  long logarithm = _log2_fixed(x);
  ulong size = (ulong)(logarithm < 0 ? -logarithm : logarithm);
  uint shift = (uint)clz(size) & 63;
  ulong product = ((size << shift) >> 32) * significand;
  int right = (int)shift - 9 - exponent;
  // a product is 0 or at least 2^62: shifted by less than 16 it is out of range either way
  long t = right > 63 ? 0 : (long)(product >> clamp(right, 16, 63));
  t = x == 0 || x == 0x7f800000 ? 1L << 40 : t;
  bool below = (x == 0 || logarithm < 0) != negative;
  float large = t >= 128L << 32 ? INFINITY : _power_of_two(t);
  float small = t > 151L << 32 ? 0.0f : _power_of_two(-t);
  return below ? small : large;
}

// 0: y is no integer, 1: it is odd, 2: it is even
int _parity(float y) {
  uint bits = as_uint(y) & 0x7fffffff;
  int fraction = 150 - (int)(bits >> 23);
  uint significand = bits & 0x7fffff | 0x800000;
  uint last = 1u << clamp(fraction, 0, 24);
  bool whole = (significand & (last - 1)) == 0;
  int parity = whole ? (significand & last ? 1 : 2) : 0;
  return fraction < 0 || bits == 0 ? 2 : parity;
}

#endif
