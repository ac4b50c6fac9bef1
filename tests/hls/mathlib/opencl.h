// Enough of OpenCL C to compile the library of mathematical functions as C++: its functions keep their meaning.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#undef INFINITY
#undef NAN

namespace library {
using uchar = uint8_t;
using ushort = uint16_t;
using uint = uint32_t;
using ulong = uint64_t;
#define long int64_t
#define __constant static const
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

template <class To, class From> To bits_as(From x) { static_assert(sizeof(To) == sizeof x); To y; memcpy(&y, &x, sizeof y); return y; }
template <class From> float as_float(From x) { return bits_as<float>(uint32_t(x)); }
template <class From> int as_int(From x) { return bits_as<int>(x); }
template <class From> uint as_uint(From x) { return bits_as<uint>(x); }
template <class From> double as_double(From x) { return bits_as<double>(uint64_t(x)); }
template <class From> long as_long(From x) { return bits_as<long>(x); }
template <class From> ulong as_ulong(From x) { return bits_as<ulong>(x); }
inline long mul_hi(long a, long b) { return long(__int128(a) * b >> 64); }
inline ulong mul_hi(ulong a, ulong b) { return ulong((unsigned __int128)a * b >> 64); }
inline int mul_hi(int a, int b) { return int(int64_t(a) * b >> 32); }
inline uint mul_hi(uint a, uint b) { return uint(uint64_t(a) * b >> 32); }
template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T max(T a, T b) { return a < b ? b : a; }
template <class T> T clamp(T x, T low, T high) { return min(max(x, low), high); }
inline uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
inline ulong clz(ulong x) { return x ? __builtin_clzll(x) : 64; }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float fabs(float x) { return __builtin_fabsf(x); }
inline float copysign(float x, float y) { return __builtin_copysignf(x, y); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline float rint(float x) { return __builtin_rintf(x); }
inline float fmin(float x, float y) { return __builtin_fminf(x, y); }
inline float fmax(float x, float y) { return __builtin_fmaxf(x, y); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline double fabs(double x) { return __builtin_fabs(x); }
inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline double floor(double x) { return __builtin_floor(x); }
inline double rint(double x) { return __builtin_rint(x); }
inline double fmin(double x, double y) { return __builtin_fmin(x, y); }
inline double fmax(double x, double y) { return __builtin_fmax(x, y); }
