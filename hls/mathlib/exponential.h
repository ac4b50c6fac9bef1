// e^x in fixed point.
#ifndef EXPONENTIAL_H
#define EXPONENTIAL_H
#include "fixed.h"

// log2(base) * x in Q.32. First the integer part, from 16 bits of the logarithm; the remainder of x, exact to 2^-40, then
// needs only 31 bits of it. unit is log of 2 to the base.
long _binary_exponent(float x, long logarithm_16, long logarithm_31, long unit_40) {
  long fixed = _fixed_32(x);
  long whole = ((fixed >> 16) * logarithm_16) >> 32;
  long rest = (fixed << 8) - whole * unit_40;
  return (whole << 32) + (((rest >> 9) * logarithm_31) >> 30);
}

long _binary_exponent_of_e(float x) {
  return _binary_exponent(x, LOG2_E_16, LOG2_E_31, LN_2_40);
}

#endif
