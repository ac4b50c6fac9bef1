// Sine, cosine and tangent, of radians and of half turns.
#include "angle.h"

#define PI_2 1.57079632679489662f
#define PI 3.14159265358979324f

// Angles up to this need no reduction.
#define SMALL 0.785398f

float sin(float x) {
  float size = fabs(x);
  bool small = size < SMALL;
  ulong turns = _quarter_turns(size);
  uint quarter = small ? 0 : _nearest_quarter(turns);
  long rest = _rest_of_quarter(turns);
  float angle = small ? size : _from_fixed(rest, 62) * PI_2;
  uint z = _square(small ? (int)(_fixed_32(size) >> 1) : _angle(rest));
  float result = quarter & 1 ? _cosine(z) : angle * _sine_by_angle(z);
  return size < INFINITY ? _with_sign(result, x, quarter & 2) : NAN;
}

float cos(float x) {
  float size = fabs(x);
  bool small = size < SMALL;
  ulong turns = _quarter_turns(size);
  uint quarter = small ? 0 : _nearest_quarter(turns);
  long rest = _rest_of_quarter(turns);
  float angle = _from_fixed(rest, 62) * PI_2;
  uint z = _square(small ? (int)(_fixed_32(size) >> 1) : _angle(rest));
  float result = quarter & 1 ? angle * _sine_by_angle(z) : _cosine(z);
  return size < INFINITY ? _with_sign(result, 1.0f, quarter + 1 & 2) : NAN;
}

float tan(float x) {
  float size = fabs(x);
  bool small = size < SMALL;
  ulong turns = _quarter_turns(size);
  uint quarter = small ? 0 : _nearest_quarter(turns);
  long rest = _rest_of_quarter(turns);
  float angle = small ? size : _from_fixed(rest, 62) * PI_2;
  uint z = _square(small ? (int)(_fixed_32(size) >> 1) : _angle(rest));
  float sine = angle * _sine_by_angle(z), cosine = _cosine(z);
  float result = (quarter & 1 ? cosine : sine) / (quarter & 1 ? sine : cosine);
  return size < INFINITY ? _with_sign(result, x, quarter & 1) : NAN;
}

float sinpi(float x) {
  float size = fabs(x);
  bool small = size < 0.25f;
  ulong turns = _quarter_turns_of_half_turns(size);
  uint quarter = small ? 0 : _nearest_quarter(turns);
  long rest = _rest_of_quarter(turns);
  float angle = small ? size * PI : _from_fixed(rest, 62) * PI_2;
  uint z = _square(_angle(small ? _fixed_32(size) << 31 : rest));
  float result = quarter & 1 ? _cosine(z) : angle * _sine_by_angle(z);
  return size < INFINITY ? _with_sign(result, x, (quarter & 2) && result != 0.0f) : NAN;  // zeros have the sign of x
}

float cospi(float x) {
  float size = fabs(x);
  bool small = size < 0.25f;
  ulong turns = _quarter_turns_of_half_turns(size);
  uint quarter = small ? 0 : _nearest_quarter(turns);
  long rest = _rest_of_quarter(turns);
  float angle = _from_fixed(rest, 62) * PI_2;
  uint z = _square(_angle(small ? _fixed_32(size) << 31 : rest));
  float result = quarter & 1 ? angle * _sine_by_angle(z) : _cosine(z);
  return size < INFINITY ? _with_sign(result, 1.0f, (quarter + 1 & 2) && result != 0.0f) : NAN;  // zeros are positive
}

float tanpi(float x) {
  float size = fabs(x);
  bool small = size < 0.25f;
  ulong turns = _quarter_turns_of_half_turns(size);
  uint quarter = small ? 0 : _nearest_quarter(turns);
  long rest = _rest_of_quarter(turns);
  float angle = small ? size * PI : _from_fixed(rest, 62) * PI_2;
  uint z = _square(_angle(small ? _fixed_32(size) << 31 : rest));
  float sine = angle * _sine_by_angle(z), cosine = _cosine(z);
  float result = (quarter & 1 ? cosine : sine) / (quarter & 1 ? sine : cosine);
  bool whole = !small && rest == 0;  // zeros and infinities take turns
  return size < INFINITY ? _with_sign(result, x, whole ? quarter & 2 : quarter & 1) : NAN;
}
