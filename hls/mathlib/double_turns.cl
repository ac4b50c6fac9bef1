// Sine, cosine and tangent of half turns in double. The reduction is exact; all large numbers are even integers.

#define PI 3.14159265358979324

double _turn_quarters(double size) {
  return size < 0x1p53 ? rint(2.0 * size) : 0.0;
}

// The nearest number of quarter turns, 0 to 3, and the remainder, in half turns.
int _turn_quarter(double size) {
  double quarters = _turn_quarters(size);
  return (int)(quarters - 4.0 * floor(0.25 * quarters));
}

double _turn_rest(double size) {
  return size < 0x1p53 ? size - 0.5 * _turn_quarters(size) : 0.0;
}

// The sine of a size, or the cosine if `turned` is 1; zeros are positive.
double _sine_of_turns(double size, int turned) {
  int quarter = _turn_quarter(size) + turned;
  double angle = _turn_rest(size) * PI;
  double result = quarter & 1 ? cos(angle) : sin(angle);
  return result == 0.0 ? 0.0 : quarter & 2 ? -result : result;
}

double sinpi(double x) {
  double size = fabs(x), result = _sine_of_turns(size, 0);
  result = size < 0x1p-27 ? size * PI : result;
  return size < INFINITY ? (as_long(x) < 0 ? -result : result) : NAN;
}

double cospi(double x) {
  return fabs(x) < INFINITY ? _sine_of_turns(fabs(x), 1) : NAN;
}

double tanpi(double x) {
  double size = fabs(x), rest = _turn_rest(size);
  int quarter = _turn_quarter(size);
  double slope = tan(rest * PI);
  double result = quarter & 1 ? -1.0 / slope : slope;
  double end = quarter & 1 ? INFINITY : 0.0;
  result = rest == 0.0 ? (quarter & 2 ? -end : end) : result;
  return size < INFINITY ? (as_long(x) < 0 ? -result : result) : NAN;
}
