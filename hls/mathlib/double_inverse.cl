// Inverse trigonometric functions of double, in radians and in half turns.
#include "double_fixed.h"

#define PI 3.14159265358979324
#define PI_2 1.57079632679489662
#define PI_LOW 1.22464679914735318e-16
#define PI_2_LOW 6.12323399573676588e-17
#define ONE_PI 0.318309886183790672

__constant ulong _arcs[65] = ATAN_VALUES;

// The angle of a point with 0 <= small <= large, up to an eighth of a turn: the angle of the nearest slope k / 64, and
// a short series for what is left: atan(s / l) = atan(k / 64) + atan((s - l k / 64) / (l + s k / 64)). Both sums round once.
double _arc(double small, double large) {
  int nearest = clamp((int)rint(64.0f * ((float)small / (float)large)), 0, 64);
  double slope = (double)nearest * 0.015625;
  double rest = fma(-large, slope, small) / fma(small, slope, large), z = rest * rest;
  double series = z * (-0.333333333333333333 + z * (0.2 - z * 0.142857142857142857));
  return as_double(_arcs[nearest]) + fma(rest, series, rest);
}

// The larger coordinate gets an exponent of 0; a point at infinity becomes one with the same angle. The origin has the angle of
// the axis.
double _scaled(double size, double large) {
  ulong exponent = clamp(as_ulong(large) >> 52, 1UL, 2045UL);
  double usual = size * as_double((2046 - exponent) << 52);
  return large == INFINITY ? (size == INFINITY ? 1.0 : 0.0) : usual;
}

// The angle of the point (x, y) in radians, or in half turns.
double _angle_of(double y, double x, bool turns) {
  double across = fabs(x), up = fabs(y);
  double large = fmax(across, up), small = fmin(across, up);
  double arc = _arc(_scaled(small, large), large == 0.0 ? 1.0 : _scaled(large, large));
  arc = turns ? arc * ONE_PI : arc;
  bool steep = up > across, left = as_long(x) < 0;
  double base = steep ? (turns ? 0.5 : PI_2) : left ? (turns ? 1.0 : PI) : 0.0;
  double low = turns ? 0.0 : steep ? PI_2_LOW : left ? PI_LOW : 0.0;
  double angle = base + (low + (steep == left ? arc : -arc));
  return x != x || y != y ? NAN : copysign(angle, y);
}

double atan(double x) {
  return _angle_of(x, 1.0, false);
}

double atan2(double y, double x) {
  return _angle_of(y, x, false);
}

double atanpi(double x) {
  return _angle_of(x, 1.0, true);
}

double atan2pi(double y, double x) {
  return _angle_of(y, x, true);
}

// The other leg of a right-angled triangle whose hypotenuse is 1: NaN beyond 1.
double _leg(double x) {
  return sqrt(fma(-x, x, 1.0));
}

double asin(double x) {
  return _angle_of(x, _leg(x), false);
}

double acos(double x) {
  return _angle_of(_leg(x), x, false);
}

double asinpi(double x) {
  return _angle_of(x, _leg(x), true);
}

double acospi(double x) {
  return _angle_of(_leg(x), x, true);
}
