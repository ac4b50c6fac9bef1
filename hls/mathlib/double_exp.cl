// Powers of a constant base, in double. Arguments that are out of range are replaced by 0 where they would overflow.
#include "double_exponential.h"

double exp2(double x) {
  double inside = fabs(x) < 1100.0 ? x : 0.0;
  ulong fraction = _fraction(inside);
  int whole = (int)inside - (inside < 0.0 && fraction != 0);
  double result = _power(whole * 64 + (int)(fraction >> 58), _high(fraction << 6, LN_2_64));
  return _within(x, -1075.0, 1024.0, result);
}

double exp(double x) {
  double inside = fabs(x) < 750.0 ? x : 0.0;
  int k = _sixty_fourths(inside, EXP_FACTOR_24);
  return _within(x, -745.2, 709.782712893384, _power(k, _rest(inside, k, EXP_UNIT_64, EXP_UNIT_LOW) << 6));
}

double exp10(double x) {
  double inside = fabs(x) < 330.0 ? x : 0.0;
  int k = _sixty_fourths(inside, EXP10_FACTOR_24);
  ulong rest = _rest(inside, k, EXP10_UNIT_64, EXP10_UNIT_LOW) << 6;
  return _within(x, -323.7, 308.2547155599168, _power(k, _high(rest, LN_10_62) << 2));
}
