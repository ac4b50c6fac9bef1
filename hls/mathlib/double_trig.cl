// Sine, cosine and tangent in double.
#include "double_fixed.h"

__constant ulong _two_over_pi[22] = TWO_OVER_PI;

// Angles up to this need no reduction.
#define SMALL 0.785398163

// x * 2/pi modulo 4 in Q.126 (Payne and Hanek 1983), in two words, for an |x| of at least SMALL: only those 192 bits of 2/pi
// matter whose product with the 53 bits of x is below 4 and above 2^-137.
int _first_bit(ulong bits) {
  return clamp(_field_of(bits) - 1013, 0, 1050);
}

ulong _bits_of_two_over_pi(int first, int word) {
  int k = (first >> 6) + word, shift = first & 63;
  ulong next = _two_over_pi[k + 1] >> 1 >> (63 - shift);
  return _two_over_pi[k] << shift | next;
}

ulong _turns_low(ulong bits) {
  ulong significand = _significand_of(bits);
  int first = _first_bit(bits);
  return significand * _bits_of_two_over_pi(first, 1) + mul_hi(significand, _bits_of_two_over_pi(first, 2));
}

ulong _turns_high(ulong bits) {
  ulong significand = _significand_of(bits);
  int first = _first_bit(bits);
  ulong middle = _bits_of_two_over_pi(first, 1);
  ulong carry = _turns_low(bits) < significand * middle;
  return significand * _bits_of_two_over_pi(first, 0) + mul_hi(significand, middle) + carry;
}

bool _is_small(ulong bits) {
  return as_double(bits) < SMALL;
}

// The nearest number of quarter turns, 0 to 3, of |x|.
int _nearest_quarter(ulong bits) {
  return _is_small(bits) ? 0 : (int)((_turns_high(bits) + (1UL << 61)) >> 62);
}

// Whether |x| is below the nearest quarter turn, so that the remainder is negative.
bool _is_below(ulong bits) {
  return !_is_small(bits) && (long)(_turns_high(bits) << 2) < 0;
}

// The magnitude of the remainder as an angle up to pi/4 with _angle_places bits below the point: at least 62 significant bits.
ulong _rest_high(ulong bits) {
  ulong high = (ulong)((long)(_turns_high(bits) << 2) >> 2);
  return _is_below(bits) ? ~high + (_turns_low(bits) == 0) : high;
}

int _rest_zeros(ulong bits) {
  ulong high = _rest_high(bits), low = _is_below(bits) ? 0 - _turns_low(bits) : _turns_low(bits);
  return high != 0 ? (int)clz(high) : 64 + (int)clz(low);
}

int _angle_places(ulong bits) {
  return _is_small(bits) ? 1086 - _field_of(bits) : 61 + _rest_zeros(bits);
}

ulong _angle(ulong bits) {
  ulong high = _rest_high(bits), low = _is_below(bits) ? 0 - _turns_low(bits) : _turns_low(bits);
  int zeros = _rest_zeros(bits);
  ulong joined = high << (zeros & 63) | low >> 1 >> (63 - zeros & 63);
  ulong rest = zeros > 63 ? low << (zeros & 63) : joined;
  return _is_small(bits) ? _significand_of(bits) << 11 : _high(rest, PI_2_63);
}

// The sine of |x|, or the cosine if `turned` is 1: a polynomial of the squared angle, with the coefficients of either.
double _sine_of(double x, int turned) {
  ulong bits = as_ulong(fabs(x));
  int quarter = _nearest_quarter(bits) + turned;
  bool odd = quarter & 1;
  ulong angle = _angle(bits), square = _high(angle, angle);
  int places = _angle_places(bits), down = 2 * places - 128;
  ulong z = down < 0 ? square << 2 : down > 63 ? 0 : square >> down;
  long p = (odd ? COS_6 : SIN_6) + _times_part(odd ? COS_7 : SIN_7, z);
  p = (odd ? COS_5 : SIN_5) + _times_part(p, z);
  p = (odd ? COS_4 : SIN_4) + _times_part(p, z);
  p = (odd ? COS_3 : SIN_3) + _times_part(p, z);
  p = (odd ? COS_2 : SIN_2) + _times_part(p, z);
  p = (odd ? COS_1 : SIN_1) + _times_part(p, z);
  p = (odd ? COS_0 : SIN_0) + _times_part(p, z);
  double size = _from_fixed(odd ? p : _times_part(p, angle), odd ? 62 : places - 2);
  bool negative = ((quarter & 2) != 0) != (!odd && _is_below(bits));
  return negative ? -size : size;
}

double sin(double x) {
  double size = fabs(x), result = _sine_of(size, 0);
  result = as_long(x) < 0 ? -result : result;
  return size < 0x1p-27 ? x : size < INFINITY ? result : NAN;
}

double cos(double x) {
  return fabs(x) < INFINITY ? _sine_of(x, 1) : NAN;
}

double tan(double x) {
  double size = fabs(x), result = _sine_of(size, 0) / _sine_of(size, 1);
  result = as_long(x) < 0 ? -result : result;
  return size < 0x1p-27 ? x : size < INFINITY ? result : NAN;
}
