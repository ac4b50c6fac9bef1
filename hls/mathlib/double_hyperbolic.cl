// e^x - 1, log(1 + x), hyperbolic functions and the cube root in double, composed of exp, log and single operations.

#define LN_2 0.693147180559945309

// e^x - 1 = (u - 1) * x / log(u) for u = e^x: the error of u cancels, as it is on both sides (Kahan).
double expm1(double x) {
  double u = exp(x), less = u - 1.0;
  double result = less * (x / log(u));
  result = fabs(x) < 1.0 ? result : less;
  return u == 1.0 || x != x ? x : result;
}

// log(1 + x) = log(u) + log(1 + lost / u) for the rounded sum u.
double log1p(double x) {
  double u = 1.0 + x;
  double lost = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  double result = log(u);
  result = u > 0.0 && u < INFINITY ? result + lost / u : result;
  return x == 0.0 ? x : result;
}

// e^x / 2, also where e^x is infinite
double _half_power(double x) {
  double root = exp(0.5 * x);
  return 0.5 * root * root;
}

double sinh(double x) {
  double size = fabs(x), t = expm1(size);
  double result = 0.5 * (t + t / (t + 1.0));
  return x != x ? x : copysign(size < 22.0 ? result : _half_power(size), x);
}

double cosh(double x) {
  double size = fabs(x), power = exp(size);
  return size < 22.0 ? 0.5 * power + 0.5 / power : _half_power(size);
}

double tanh(double x) {
  double size = fabs(x), t = expm1(2.0 * size);
  return x != x ? x : copysign(size < 22.0 ? t / (t + 2.0) : 1.0, x);
}

double asinh(double x) {
  double size = fabs(x), square = size * size;
  double result = log1p(size + square / (1.0 + sqrt(square + 1.0)));
  result = size < 268435456.0 ? result : log(size) + LN_2;
  return x != x ? x : copysign(result, x);
}

double acosh(double x) {
  double above = x - 1.0;
  double result = log1p(above + sqrt(above * (above + 2.0)));
  result = x < 268435456.0 ? result : log(x) + LN_2;
  return x >= 1.0 ? result : NAN;
}

double atanh(double x) {
  double size = fabs(x);
  double result = 0.5 * log1p(2.0 * size / (1.0 - size));
  return x != x ? x : copysign(result, x);
}

// A root accurate to 2^-45, improved by one Newton step; numbers so small that its residual would underflow are scaled by 2^180.
double cbrt(double x) {
  bool small = fabs(x) < 0x1p-900;
  double size = small ? fabs(x) * 0x1p180 : fabs(x);
  double root = exp2(log2(size) * 0.333333333333333333);
  double square = root * root;
  root -= fma(square, root, -size) / (3.0 * square);
  root = small ? root * 0x1p-60 : root;
  return x == 0.0 || !(fabs(x) < INFINITY) ? x : copysign(root, x);
}
