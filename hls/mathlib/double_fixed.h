// Conversion between doubles and fixed point. A number "Q.n" is an integer with n bits below the point.
#ifndef DOUBLE_FIXED_H
#define DOUBLE_FIXED_H
#include "double_coefficients.h"

// The upper 64 bits of a product, too small by up to 2: the product of the lower halves and the carries are left out.
ulong _high(ulong a, ulong b) {
  ulong a_high = a >> 32, a_low = (uint)a, b_high = b >> 32, b_low = (uint)b;
  return a_high * b_high + ((a_high * b_low) >> 32) + ((a_low * b_high) >> 32);
}

// The same for signed numbers.
long _high_signed(long a, long b) {
  long a_high = a >> 32, a_low = (uint)a, b_high = b >> 32, b_low = (uint)b;
  return a_high * b_high + ((a_high * b_low) >> 32) + ((a_low * b_high) >> 32);
}

// p * z for signed p in Q.n and z in Q.64 from 0 to 1
long _times_part(long p, ulong z) {
  long p_high = p >> 32, p_low = (uint)p, z_high = (long)(z >> 32), z_low = (uint)z;
  return p_high * z_high + ((p_high * z_low) >> 32) + (long)((ulong)(p_low * z_high) >> 32);
}

ulong _significand_of(ulong bits) {
  return bits & 0xfffffffffffffL | 0x10000000000000L;
}

int _field_of(ulong bits) {
  return (int)(bits >> 52) & 2047;
}

// x in Q.64 modulo 1, truncated; for |x| below 2^52.
ulong _fraction(double x) {
  ulong bits = as_ulong(x), significand = _significand_of(bits);
  int left = _field_of(bits) - 1011;
  ulong right = left < -63 ? 0 : significand >> (-left & 63);
  ulong size = left < 0 ? right : significand << (left & 63);
  return as_long(x) < 0 ? 0 - size : size;
}

// A signed Q.n number as a double, rounded once; not for results that are subnormal.
double _from_fixed(long x, int n) {
  return x == 0 ? 0.0 : as_double(as_long((double)x) - ((long)n << 52));
}

// significand * 2^(exponent - 62) for a significand of 2^62 to 2^63 and an exponent from -1100 to 1023
double _packed_62(ulong significand, int exponent) {
  int subnormal = clamp(-1022 - exponent, 0, 63);
  ulong field = (ulong)max(exponent + 1022, 0);
  return as_double((field << 52) + (((significand >> subnormal) + 0x200) >> 10));
}

// The bits of a positive number as a normal one: a subnormal is multiplied by 2^1074.
ulong _normal_bits(ulong bits) {
  return bits >> 52 == 0 ? as_ulong((double)bits) : bits;
}

#endif
