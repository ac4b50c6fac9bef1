// Inverse trigonometric functions, in radians and in half turns.
#include "polynomial.h"

#define PI 3.14159265358979324f
#define PI_2 1.57079632679489662f
#define PI_4 0.785398163397448310f
#define ONE_PI 0.318309886183790672f

// asin(sqrt(z)) / sqrt(z) for z up to 1/4
float _asin_by_root(uint z) {
  int p = ASIN_5 + _times(ASIN_6, z);
  p = ASIN_4 + _times(p, z);
  p = ASIN_3 + _times(p, z);
  p = ASIN_2 + _times(p, z);
  p = ASIN_1 + _times(p, z);
  return _from_fixed(ASIN_0 + _times(p, z), 30);
}

// asin(|x|) up to 1/2; above, half of acos(|x|), by asin(sqrt((1 - |x|) / 2)).
float _asin_core(float size) {
  bool near = size <= 0.5f;
  float rest = (1.0f - size) * 0.5f;
  uint z = near ? _square_of(size) : (uint)_fixed_32(rest);
  return (near ? size : sqrt(rest)) * _asin_by_root(z);
}

float asin(float x) {
  float size = fabs(x), core = _asin_core(size);
  float result = size <= 0.5f ? core : PI_2 - (core + core);
  return size <= 1.0f ? copysign(result, x) : NAN;
}

float acos(float x) {
  float size = fabs(x), core = _asin_core(size);
  float twice = core + core;
  float near = PI_2 - copysign(core, x), far = x < 0.0f ? PI - twice : twice;
  return size <= 1.0f ? (size <= 0.5f ? near : far) : NAN;
}

float asinpi(float x) {
  float size = fabs(x), core = _asin_core(size) * ONE_PI;
  float result = size <= 0.5f ? core : 0.5f - (core + core);
  return size <= 1.0f ? copysign(result, x) : NAN;
}

float acospi(float x) {
  float size = fabs(x), core = _asin_core(size) * ONE_PI;
  float twice = core + core;
  float near = 0.5f - copysign(core, x), far = x < 0.0f ? 1.0f - twice : twice;
  return size <= 1.0f ? (size <= 0.5f ? near : far) : NAN;
}

// The angle of a point with both coordinates positive and small <= large, less an eighth of a turn if `turned`:
// atan(s / l) = pi/4 + atan((s - l) / (s + l)).
float _atan_core(float small, float large, bool turned) {
  float above = turned ? small - large : small, below = turned ? small + large : large;
  float ratio = above / below;
  uint z = _square_of(fabs(ratio));
  int p = ATAN_4 + _times(ATAN_5, z);
  p = ATAN_3 + _times(p, z);
  p = ATAN_2 + _times(p, z);
  p = ATAN_1 + _times(p, z);
  return ratio * _from_fixed(ATAN_0 + _times(p, z), 30);
}

// The angle of the point (x, y), where an eighth of a turn is pi / 4 or 1 / 4 and factor converts radians.
float _angle_of(float y, float x, float eighth, float factor) {
  float across = fabs(x), up = fabs(y);
  float large = fmax(across, up), small = fmin(across, up);
  // if a sum may overflow, or so few bits are there that the comparison below would be wrong, a factor keeps the angle
  float scale = large > 0x1p125f ? 0.25f : large < 0x1p-100f ? 0x1p100f : 1.0f;
  large *= scale, small *= scale;
  bool equal = small == large;
  bool turned = small > 0.41421356f * large;
  float core = _atan_core(equal ? 0.0f : small, equal ? 1.0f : large, turned && !equal) * factor;
  float angle = turned || equal ? eighth + core : core;
  angle = small == 0.0f ? 0.0f : angle;
  angle = up > across ? 2.0f * eighth - angle : angle;
  angle = as_int(x) < 0 ? 4.0f * eighth - angle : angle;
  return x != x || y != y ? NAN : copysign(angle, y);
}

float atan(float x) {
  return _angle_of(x, 1.0f, PI_4, 1.0f);
}

float atan2(float y, float x) {
  return _angle_of(y, x, PI_4, 1.0f);
}

float atanpi(float x) {
  return _angle_of(x, 1.0f, 0.25f, ONE_PI);
}

float atan2pi(float y, float x) {
  return _angle_of(y, x, 0.25f, ONE_PI);
}
