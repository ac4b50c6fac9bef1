// Measures the library of mathematical functions, compiled as C++, against double precision.
//
//   measure worst STEP SEED [NAME...]  for each function: name, largest error in units of the last place (ULP), where, and
//                                      the number of wrong infinities, NaNs and zeros. Functions of one argument see every
//                                      STEP-th float, the others as many random pairs.
//   measure eval NAME                  reads pairs of words (hex bits of the arguments), prints the result's bits and the
//                                      reference
#include <cfloat>
#include <climits>
#include <cmath>

#include "opencl.h"
#include "library.inc"
}  // namespace library
#undef long
using number = float;
using wide = double;
using word = uint32_t;
#include "measure.h"

namespace {

double gamma(double x) {  // with glibc's own choice at the poles replaced by OpenCL's
    return x < 0 && x == std::floor(x) ? NAN : std::tgamma(x);
}

#define ONE(name, expression) {#name, 1, [](float x, uint32_t) -> float { return library::name(x); }, \
                               [](double x, double) -> double { return expression; }}
#define TWO(name, expression) {#name, 2, [](float x, uint32_t y) -> float { return library::name(x, f(y)); }, \
                               [](double x, double y) -> double { return expression; }}
#define INT(name, expression) {#name, 3, [](float x, uint32_t n) -> float { return library::name(x, int(n)); }, \
                               [](double x, double n) -> double { return expression; }}
// The smaller functions take and give zeros for subnormal numbers, and of angles only those up to 65536.
double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }
double fewer(double exact, float got) { return got == 0 && std::fabs(exact) < 0x1.01p-126 ? double(got) : exact; }

#define FEW(name, limit, expression) {#name, 1, [](float x, uint32_t) -> float { return library::_##name(x); }, \
    [](double given, double) -> double { \
        const double x = flushed(given); \
        const float got = library::_##name(float(given)); \
        return std::fabs(x) > limit && std::isfinite(x) ? double(got) : fewer(expression, got); }}

const Function functions[] = {
    ONE(exp, std::exp(x)), ONE(exp2, std::exp2(x)), ONE(exp10, std::pow(10.0, x)), ONE(expm1, std::expm1(x)),
    ONE(log, std::log(x)), ONE(log2, std::log2(x)), ONE(log10, std::log10(x)), ONE(log1p, std::log1p(x)),
    ONE(sin, std::sin(x)), ONE(cos, std::cos(x)), ONE(tan, std::tan(x)),
    ONE(sinpi, sine_of_turn(x)), ONE(cospi, cosine_of_turn(x)), ONE(tanpi, tangent_of_turn(x)),
    ONE(asin, std::asin(x)), ONE(acos, std::acos(x)), ONE(atan, std::atan(x)), TWO(atan2, std::atan2(x, y)),
    ONE(asinpi, std::asin(x) / pi), ONE(acospi, std::acos(x) / pi), ONE(atanpi, std::atan(x) / pi),
    TWO(atan2pi, std::atan2(x, y) / pi),
    ONE(sinh, std::sinh(x)), ONE(cosh, std::cosh(x)), ONE(tanh, std::tanh(x)),
    ONE(asinh, std::asinh(x)), ONE(acosh, std::acosh(x)), ONE(atanh, std::atanh(x)),
    TWO(pow, std::pow(x, y)), TWO(powr, power(x, y)), INT(pown, std::pow(x, n)), INT(rootn, root(x, n)),
    ONE(cbrt, std::cbrt(x)), ONE(rsqrt, 1 / std::sqrt(x)), TWO(hypot, std::hypot(x, y)),
    ONE(erf, std::erf(x)), ONE(erfc, std::erfc(x)), ONE(tgamma, gamma(x)), ONE(lgamma, std::lgamma(x)),
    TWO(fmod, std::fmod(x, y)), TWO(remainder, std::remainder(x, y)), TWO(nextafter, double(std::nextafter(float(x), float(y)))),
    FEW(native_exp, INFINITY, std::exp(x)), FEW(native_exp2, INFINITY, std::exp2(x)), FEW(native_exp10, INFINITY, std::pow(10.0, x)),
    FEW(native_log, INFINITY, std::log(x)), FEW(native_log2, INFINITY, std::log2(x)), FEW(native_log10, INFINITY, std::log10(x)),
    FEW(native_sin, 65536, std::sin(x)), FEW(native_cos, 65536, std::cos(x)), FEW(native_tan, 65536, std::tan(x)),
    FEW(native_recip, INFINITY, 1 / x), FEW(native_sqrt, INFINITY, std::sqrt(x)), FEW(native_rsqrt, INFINITY, 1 / std::sqrt(x)),
    {"native_divide", 2, [](float x, uint32_t y) -> float { return library::_native_divide(x, f(y)); },
     [](double x, double y) -> double { return fewer(flushed(x) / flushed(y), library::_native_divide(float(x), float(y))); }},
    INT(ldexp, std::ldexp(x, n)), ONE(logb, std::logb(x)),
    ONE(ilogb, x == 0 ? double(INT_MIN) : std::isfinite(x) ? std::logb(x) : 0x1p31),
};

// lgamma has zeros below 0 of which only the absolute error is bounded: there no result counts as less than 1.
double unit(const Function &function, double x, double exact) {
    return ulp(!strcmp(function.name, "lgamma") && x < 0 ? std::fmax(std::fabs(exact), 1) : exact);
}

uint32_t random_float() {
    const uint64_t r = random_bits();
    static const uint32_t specials[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x40000000,
                                        0x40400000, 0xc0400000, 0x3f000000, 0xbf000000, 0x4b7fffff, 0x4b800001, 0x4c000000};
    if ((r & 31) == 0) return specials[(r >> 8) % 15];
    if ((r & 31) == 1) return bits_of(float(int(r >> 40 & 63) - 32));
    const uint32_t bits = r >> 32;
    return (r & 3) == 3 ? (bits & 0x807fffff) | (120 + (r >> 5 & 15)) << 23 : bits;  // of a middle size
}

// A second argument with which the first has an interesting result.
uint32_t second(const Function &function, uint32_t a) {
    const uint64_t r = random_bits();
    const double size = std::fabs(std::log2(std::fabs(double(f(a)))));
    const bool power = !strncmp(function.name, "pow", 3) && size > 1e-9 && size < 200 && (r & 1);
    const double fitting = (double(r >> 11) * 0x1p-53 - 0.5) * 300 / size;  // a power from 2^-150 to 2^150
    if (function.arguments == 3) return power ? int(std::fmin(std::fmax(fitting, -2e9), 2e9)) : int32_t(r >> 32) >> (r >> 8 & 31);
    if (power) return bits_of(float(fitting));
    return r & 2 ? a + (uint32_t(r >> 56) << 22) - (1u << 29) + (r & 4 ? r >> 20 & 1023 : 0) : random_float();
}

void worst(const Function &function, uint64_t step) {
    Worst worst;
    uint64_t seen = 0;
    for (uint64_t n = random_bits() % step; n < 1ull << 32; n += step, ++seen) {
        const uint32_t a = function.arguments == 1 ? uint32_t(n) : random_float();
        worst.see(function, a, function.arguments == 1 ? 0 : second(function, a));
    }
    worst.print(function.name, seen);
}

}  // namespace

int main(int argc, char **argv) { return run(functions, worst, argc, argv); }
