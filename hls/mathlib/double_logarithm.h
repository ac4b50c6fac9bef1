// The logarithm to the base 2 in fixed point, with 60 bits of precision however small it is.
//
// The first bits of the significand select a reciprocal close to it: log2(significand) = log2(significand * reciprocal) -
// log2(reciprocal), and the first term is a short polynomial. Close to 1 the reciprocal is 1 and its logarithm 0.
#ifndef DOUBLE_LOGARITHM_H
#define DOUBLE_LOGARITHM_H
#include "double_fixed.h"

__constant ushort _reciprocals[128] = LOG_RECIPROCALS;
__constant long _logarithms[128] = LOG_VALUES;
__constant ushort _more_bits[128] = LOG_MORE;

int _interval(ulong bits) {
  return (int)(_normal_bits(bits) >> 45) & 127;
}

// x = significand * 2^exponent, the significand from about sqrt(1/2) to sqrt(2)
int _log_exponent(ulong bits) {
  int exponent = (int)(_normal_bits(bits) >> 52) - (bits >> 52 == 0 ? 1023 + 1074 : 1023);
  return exponent + (_interval(bits) >= LOG_SPLIT);
}

// significand * reciprocal - 1 in Q.69, exact
long _log_argument(ulong bits) {
  int interval = _interval(bits);
  ulong product = _significand_of(_normal_bits(bits)) * _reciprocals[interval];  // Q.61, or Q.62 for half of the significand
  return (long)((interval >= LOG_SPLIT ? product : product << 1) << 7);
}

// Whether the polynomial is the only term: then its argument is shifted up, by _log_lift.
bool _log_alone(ulong bits) {
  return _log_exponent(bits) == 0 && _logarithms[_interval(bits)] == 0;
}

int _log_lift(ulong bits) {
  long argument = _log_argument(bits);
  int zeros = (int)clz((ulong)(argument < 0 ? -argument : argument)) - 1;
  return _log_alone(bits) ? min(max(zeros, 0), 62) : 0;
}

// Bits below the point of the result of _log2_fixed.
int _log2_places(ulong bits) {
  int exponent = _log_exponent(bits);
  int digits = 32 - (int)clz((uint)(exponent < 0 ? -exponent : exponent));
  int alone = 67 + _log_lift(bits), together = 63 + (_more_bits[_interval(bits)] >> 8);
  return _log_alone(bits) ? alone : exponent == 0 ? together : 63 - digits;
}

// log2(x) for a positive x: a fixed-point number of at least 2^59, or 0
long _log2_fixed(ulong bits) {
  long r = _log_argument(bits);
  long upper = (r + (1L << 30)) >> 31;  // Q.38
  long short_sum = LOG2P_6 + ((LOG2P_7 * upper) >> 38);
  short_sum = LOG2P_5 + ((short_sum * upper) >> 38);
  short_sum = LOG2P_4 + ((short_sum * upper) >> 38);
  long sum = LOG2P_3 + (_high_signed(short_sum << 30, r << 1) >> 6);  // Q.62, from Q.32
  sum = LOG2P_2 + (_high_signed(sum, r << 1) >> 6);
  sum = LOG2P_1 + (_high_signed(sum, r << 1) >> 6);
  sum = LOG2P_0 + (_high_signed(sum, r << 1) >> 6);
  long part = _high_signed(sum, r << _log_lift(bits));  // Q.67 and more
  int places = _log2_places(bits), interval = _interval(bits);
  long logarithm = _logarithms[interval];  // Q.63
  long more = (long)(_more_bits[interval] & 255) >> (71 - places & 63);
  long fine = (logarithm << (places - 63 & 63)) + more, coarse = logarithm >> (63 - places & 63);
  long together = (places >= 63 ? fine : coarse) + (part >> (67 - places & 63)) + ((long)_log_exponent(bits) << (places & 63));
  return _log_alone(bits) ? part : together;
}

// The logarithm of zero, infinity, negative numbers and NaN; `result` for others.
double _log_special(double x, double result) {
  result = x == INFINITY ? INFINITY : result;
  result = x == 0.0 ? -INFINITY : result;
  return x >= 0.0 ? result : NAN;
}

#endif
