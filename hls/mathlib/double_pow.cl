// Powers and roots in double: x^y = 2^(y * log2(x)).
#include "double_exponential.h"
#include "double_logarithm.h"

#define HALVES 0x7fffffffffffffffL
#define INFINITE 0x7ff0000000000000L

// The bits of |x|, and |y| as significand * 2^(exponent - 63), the significand's top bit set.
double _raised(ulong x, ulong significand, int exponent, bool negative) {
  long logarithm = _log2_fixed(x);
  ulong size = (ulong)(logarithm < 0 ? -logarithm : logarithm);
  int shift = (int)clz(size) & 63;
  ulong product = _high(size << shift, significand);  // 0, or at least 2^61
  int right = _log2_places(x) + shift - 53 - exponent;  // to Q.52
  ulong t = right > 63 ? 0 : product >> (right & 63);
  bool beyond = size != 0 && right < 0 || x == 0 || x == INFINITE;
  bool below = (x == 0 || logarithm < 0) != negative;
  bool overflows = beyond || t >= 1024UL << 52, vanishes = beyond || t > 1076UL << 52;
  double power = _power_of_two(below ? -(long)t : (long)t);
  return below ? (vanishes ? 0.0 : power) : overflows ? INFINITY : power;
}

double _double_raised(double x, double y) {
  ulong bits = as_ulong(y);
  // a subnormal y counts as one a little larger: 1 either way
  return _raised(as_ulong(x) & HALVES, _significand_of(bits) << 11, _field_of(bits) - 1023, y < 0.0);
}

// 0: y is no integer, 1: it is odd, 2: it is even
int _parity(double y) {
  ulong bits = as_ulong(y) & HALVES;
  int fraction = 1075 - _field_of(bits);
  ulong last = 1UL << clamp(fraction, 0, 53);
  ulong significand = _significand_of(bits);
  bool whole = (significand & (last - 1)) == 0;
  int parity = whole ? (significand & last ? 1 : 2) : 0;
  return fraction < 0 || bits == 0 ? 2 : parity;
}

double pow(double x, double y) {
  int parity = _parity(y);
  double result = _double_raised(x, y);
  bool negative = as_long(x) < 0;
  result = negative && parity == 1 ? -result : result;
  result = x < 0.0 && x > -INFINITY && parity == 0 && y == y ? NAN : result;
  result = x != x || y != y ? NAN : result;
  return x == 1.0 || y == 0.0 || x == -1.0 && fabs(y) == INFINITY ? 1.0 : result;
}

double powr(double x, double y) {
  double result = _double_raised(x, y);
  bool ends = x == 0.0 || x == INFINITY;
  bool undefined = x < 0.0 || ends && y == 0.0 || x == 1.0 && fabs(y) == INFINITY;
  result = y == 0.0 ? 1.0 : result;
  return undefined || x != x || y != y ? NAN : result;
}

double pown(double x, int n) {
  ulong size = (ulong)(n < 0 ? -(long)n : (long)n);
  int zeros = (int)clz(size) & 63;
  double result = _raised(as_ulong(x) & HALVES, size << zeros, 63 - zeros, n < 0);
  result = as_long(x) < 0 && n & 1 ? -result : result;
  result = x != x ? x : result;
  return n == 0 ? 1.0 : result;
}

double rootn(double x, int n) {
  double size = fabs((double)n);
  double reciprocal = 1.0 / size;
  // the error of the reciprocal, as its 53 bits are not enough for up to 1074 binary digits
  long rest = (long)_fraction(fma(-size, reciprocal, 1.0));
  ulong bits = as_ulong(reciprocal);
  ulong significand = _significand_of(bits) << 11;
  long more = ((long)(significand >> 33) * rest) >> 31;
  bool carries = more > 0 && significand + (ulong)more < significand;
  significand = carries ? 0xffffffffffffffffUL : significand + (ulong)more;
  double result = _raised(as_ulong(x) & HALVES, significand, _field_of(bits) - 1023, n < 0);
  bool negative = as_long(x) < 0;
  result = negative && n & 1 ? -result : result;
  bool undefined = n == 0 || x < 0.0 && !(n & 1);
  return undefined || x != x ? NAN : result;
}
