// Functions on the parts of a float, and remainders: exact, or rounded once.

// size * 2^(exponent - 150), which must be a float
float _packed(uint size, int exponent) {
  int shift = (int)clz(size) - 8;
  int normal = exponent - shift;
  uint bits = ((uint)normal << 23) + ((size << (shift & 31)) - 0x800000u);
  uint subnormal = size << (exponent - 1 & 31);
  return as_float(size == 0 ? 0 : normal > 0 ? bits : subnormal);
}

float ldexp(float x, int n) {
  uint bits = as_uint(x) & 0x7fffffff;
  uint normal = bits < 0x800000 ? as_uint((float)bits) : bits;
  int exponent = (int)(normal >> 23) - (bits < 0x800000 ? 149 : 0) + clamp(n, -500, 500);
  uint significand = normal & 0x7fffff | 0x800000;
  int below = clamp(1 - exponent, 0, 31);
  uint kept = significand >> below, lost = significand << (31 - below) << 1;
  uint subnormal = kept + (lost > 0x80000000u || lost == 0x80000000u && kept & 1);
  uint usual = ((uint)exponent << 23) + (significand - 0x800000u);
  float result = as_float(exponent > 254 ? 0x7f800000 : exponent > 0 ? usual : subnormal);
  return bits == 0 || bits >= 0x7f800000 ? x : copysign(result, x);
}

int ilogb(float x) {
  uint bits = as_uint(x) & 0x7fffffff;
  uint normal = bits < 0x800000 ? as_uint((float)bits) : bits;
  int result = (int)(normal >> 23) - (bits < 0x800000 ? 127 + 149 : 127);
  result = bits >= 0x7f800000 ? INT_MAX : result;
  return bits == 0 ? INT_MIN : result;
}

float logb(float x) {
  uint bits = as_uint(x) & 0x7fffffff;
  float result = bits >= 0x7f800000 ? as_float(bits) : (float)ilogb(x);
  return bits == 0 ? -INFINITY : result;
}

float nextafter(float x, float y) {
  int bits = as_int(x);
  int step = (x < y) == (bits >= 0) ? 1 : -1;
  float least = copysign(as_float(1), y);
  float result = x == 0.0f ? least : as_float(bits + step);
  return x != x || y != y ? NAN : x == y ? y : result;
}

float nan(uint code) {
  return as_float(0x7fc00000 | code & 0x3fffff);
}

float rsqrt(float x) {
  return 1.0f / sqrt(x);
}

// Both are scaled by the power of two of the larger one, so that no square overflows or underflows.
float hypot(float x, float y) {
  float across = fabs(x), up = fabs(y);
  float large = fmax(across, up), small = fmin(across, up);
  uint exponent = clamp(as_uint(large) >> 23, 1u, 253u);
  float scale = as_float((254 - exponent) << 23);
  large *= scale, small *= scale;
  float result = sqrt(fma(large, large, small * small)) * as_float(exponent << 23);
  result = x != x || y != y ? NAN : result;
  return across == INFINITY || up == INFINITY ? INFINITY : result;
}

// One bit of the quotient in each iteration.
float fmod(float x, float y) {
  uint a = as_uint(x) & 0x7fffffff, b = as_uint(y) & 0x7fffffff;
  int a_exponent = max((int)(a >> 23), 1), b_exponent = max((int)(b >> 23), 1);
  uint digits = (a & 0x7fffff | (a < 0x800000 ? 0 : 0x800000)) << 8;
  uint divisor = b & 0x7fffff | (b < 0x800000 ? 0 : 0x800000);
  uint rest = 0;
  int turns = a < b || a >= 0x7f800000 ? 0 : 24 + a_exponent - b_exponent;
  for (int k = 0; k < turns; k++) {
    rest = rest << 1 | digits >> 31;
    digits <<= 1;
    rest = rest >= divisor ? rest - divisor : rest;
  }
  float result = a < b ? x : copysign(_packed(rest, b_exponent), x);
  return a >= 0x7f800000 || b > 0x7f800000 || b == 0 ? NAN : result;
}

// As fmod in units of half a bit; then the divisor is subtracted once more if that is nearer.
float remainder(float x, float y) {
  uint a = as_uint(x) & 0x7fffffff, b = as_uint(y) & 0x7fffffff;
  int a_exponent = max((int)(a >> 23), 1), b_exponent = max((int)(b >> 23), 1);
  uint digits = (a & 0x7fffff | (a < 0x800000 ? 0 : 0x800000)) << 8;
  uint divisor = (b & 0x7fffff | (b < 0x800000 ? 0 : 0x800000)) << 1;
  uint rest = 0;
  bool odd = false;
  int apart = a_exponent - b_exponent;
  bool near = apart < -1 || a == 0 || b >= 0x7f800000;
  int turns = near || a >= 0x7f800000 ? 0 : 25 + apart;
  for (int k = 0; k < turns; k++) {
    rest = rest << 1 | digits >> 31;
    digits <<= 1;
    odd = rest >= divisor;
    rest = odd ? rest - divisor : rest;
  }
  bool beyond = rest + rest > divisor || rest + rest == divisor && odd;
  uint size = beyond ? divisor - rest : rest;
  // a size with a half bit has no more than 23 other bits, and an exponent one lower exists
  float whole = _packed(size >> 1, b_exponent), lower = _packed(size, b_exponent - 1);
  float result = copysign(size & 1 ? lower : whole, x);
  result = near ? x : beyond ? -result : result;
  return a >= 0x7f800000 || b > 0x7f800000 || b == 0 ? NAN : result;
}
