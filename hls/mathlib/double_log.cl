// Logarithms to the bases 2, e and 10, in double.
#include "double_logarithm.h"

double log2(double x) {
  ulong bits = as_ulong(x);
  return _log_special(x, _from_fixed(_log2_fixed(bits), _log2_places(bits)));
}

double log(double x) {
  ulong bits = as_ulong(x);
  return _log_special(x, _from_fixed(_times_part(_log2_fixed(bits), LN_2_64), _log2_places(bits)));
}

double log10(double x) {
  ulong bits = as_ulong(x);
  return _log_special(x, _from_fixed(_times_part(_log2_fixed(bits), LOG10_2_64), _log2_places(bits)));
}
