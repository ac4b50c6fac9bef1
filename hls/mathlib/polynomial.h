// Steps of polynomials in fixed point.
#ifndef POLYNOMIAL_H
#define POLYNOMIAL_H
#include "fixed.h"

// p * z for p in Q.n and z in Q.32 from 0 to 1
int _times(int p, uint z) {
  return (int)(((long)p * (long)z) >> 32);
}

// x^2 in Q.32 for x below 1
uint _square_of(float x) {
  long fixed = _fixed_32(x) >> 1;
  return (uint)min((fixed * fixed) >> 30, 0xffffffffL);
}

#endif
