// Measures the library of mathematical functions of double, compiled as C++, against the x87's extended precision.
//
//   measure worst COUNT SEED [NAME...]  for each function: name, largest error in units of the last place (ULP), where, and
//                                       the number of wrong infinities, NaNs and zeros, for so many arguments
//   measure eval NAME                   reads pairs of words (hex bits of the arguments), prints the result's bits and the
//                                       reference
#include <cfloat>
#include <climits>
#include <cmath>

#include "opencl.h"
namespace of_double {
#include "library.inc"
}  // namespace of_double
}  // namespace library
#undef long
using number = double;
using wide = long double;
using word = uint64_t;
#include "measure.h"

namespace {

const wide kPi = 3.14159265358979323846264338327950288L;

wide gamma(wide x) {  // with glibc's own choice at the poles replaced by OpenCL's
    return x < 0 && x == std::floor(x) ? wide(NAN) : std::tgamma(x);
}

wide next(double x, double y) { return std::nextafter(x, y); }

#define ONE(name, usual, expression) {#name, 1, [](double x, uint64_t) -> double { return library::of_double::name(x); }, \
                                      [](wide x, wide) -> wide { return expression; }, usual}
#define TWO(name, usual, expression) {#name, 2, [](double x, uint64_t y) -> double { return library::of_double::name(x, f(y)); }, \
                                      [](wide x, wide y) -> wide { return expression; }, usual}
#define INT(name, usual, expression) {#name, 3, [](double x, uint64_t n) -> double { return library::of_double::name(x, int(n)); }, \
                                      [](wide x, wide n) -> wide { return expression; }, usual}
const Function functions[] = {
    ONE(exp, 750, std::exp(x)), ONE(exp2, 1080, std::exp2(x)), ONE(exp10, 325, powl(10, x)),
    ONE(log, 2, std::log(x)), ONE(log2, 2, std::log2(x)), ONE(log10, 2, std::log10(x)),
    ONE(sin, 1000, std::sin(x)), ONE(cos, 1000, std::cos(x)), ONE(tan, 1000, std::tan(x)),
    ONE(sinpi, 4, sine_of_turn(x)), ONE(cospi, 4, cosine_of_turn(x)), ONE(tanpi, 4, tangent_of_turn(x)),
    TWO(pow, 100, std::pow(x, y)), TWO(powr, 100, power(x, y)), INT(pown, 100, std::pow(x, n)), INT(rootn, 100, root(x, int(n))),
    ONE(expm1, 750, std::expm1(x)), ONE(log1p, 2, std::log1p(x)), ONE(sinh, 720, std::sinh(x)), ONE(cosh, 720, std::cosh(x)), ONE(tanh, 25, std::tanh(x)),
    ONE(asinh, 10, std::asinh(x)), ONE(acosh, 10, std::acosh(x)), ONE(atanh, 1, std::atanh(x)),
    ONE(asin, 1, std::asin(x)), ONE(acos, 1, std::acos(x)), ONE(atan, 10, std::atan(x)), TWO(atan2, 10, std::atan2(x, y)),
    ONE(asinpi, 1, std::asin(x) / kPi), ONE(acospi, 1, std::acos(x) / kPi), ONE(atanpi, 10, std::atan(x) / kPi), TWO(atan2pi, 10, std::atan2(x, y) / kPi), ONE(cbrt, 10, std::cbrt(x)),
    ONE(erf, 6, std::erf(x)), ONE(erfc, 28, std::erfc(x)), ONE(tgamma, 190, gamma(x)), ONE(lgamma, 190, std::lgamma(x)),
    ONE(rsqrt, 10, 1 / std::sqrt(x)), TWO(hypot, 10, std::hypot(x, y)),
    TWO(fmod, 10, std::fmod(x, y)), TWO(remainder, 10, std::remainder(x, y)), TWO(nextafter, 10, next(double(x), double(y))),
    INT(ldexp, 10, std::ldexp(x, int(n))), ONE(logb, 10, std::logb(x)),
    ONE(ilogb, 10, x == 0 ? wide(INT_MIN) : std::isfinite(x) ? std::logb(x) : wide(INT_MAX)),
};

// lgamma has zeros below 0 of which only the absolute error is bounded: there no result counts as less than 1.
wide unit(const Function &function, wide x, wide exact) {
    return ulp(!strcmp(function.name, "lgamma") && x < 0 ? std::fmax(std::fabs(exact), wide(1)) : exact);
}

// Any bits; something below `usual`; a number close to a whole multiple of pi/2, or to a power of two; special ones.
uint64_t random_double(double usual) {
    const uint64_t r = random_bits(), s = random_bits();
    static const double specials[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 2, 0.5, -2, 3, -3, 0.1, 10, DBL_MIN, DBL_TRUE_MIN, DBL_MAX, 1.5707963267948966};
    switch (r & 15) {
        case 0: return bits_of(specials[(r >> 8) % 18]);
        case 1: return bits_of(double(int(r >> 40 & 63) - 32));
        case 2: return bits_of(double(1.57079632679489661923132169163975L * (r >> 8 & 0xfffff)));
        case 3: return bits_of(std::ldexp(1.0, int(r >> 8 & 7) - 4)) + (s >> (r >> 12 & 63)) * (r >> 20 & 1 ? 1 : -1) % (1ull << 52);
        case 4: case 5: case 6: return s;
        default: return bits_of((double(s >> 11) * 0x1p-52 - 1) * usual);
    }
}

// A second argument with which the first has an interesting result.
uint64_t second(const Function &function, uint64_t a) {
    const uint64_t r = random_bits();
    const double size = std::fabs(std::log2(std::fabs(f(a))));
    const bool power = !strncmp(function.name, "pow", 3) && size > 1e-12 && size < 1100 && (r & 3);
    const double fitting = (double(r >> 11) * 0x1p-53 - 0.5) * 2160 / size;  // a power from 2^-1080 to 2^1080
    if (function.arguments == 3) return power ? uint64_t(int64_t(std::fmin(std::fmax(fitting, -2e9), 2e9))) : uint64_t(int32_t(r >> 32) >> (r >> 8 & 31));
    if (power) return bits_of(fitting);
    return r & 2 ? a + ((r >> 56) << 49) - (1ull << 55) + (r & 4 ? r >> 20 & 1023 : 0) : random_double(function.usual);
}

void worst(const Function &function, uint64_t count) {
    Worst worst;
    for (uint64_t n = 0; n < count; ++n) {
        const uint64_t a = random_double(function.usual);
        worst.see(function, a, function.arguments == 1 ? 0 : second(function, a));
    }
    worst.print(function.name, count);
}

}  // namespace

int main(int argc, char **argv) { return run(functions, worst, argc, argv); }
