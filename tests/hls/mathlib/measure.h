// What measures of both formats share. The includer says before what `number` is, `word` for its bits, and `wide`, in which
// references are computed; and behind it `unit`, by which errors are divided.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace {

using Limits = std::numeric_limits<number>;

number f(word bits) { number x; memcpy(&x, &bits, sizeof x); return x; }
word bits_of(number x) { word bits; memcpy(&bits, &x, sizeof x); return bits; }

struct Function {
    const char *name;
    int arguments;  // 1, 2 numbers; 3: a number and an int
    number (*result)(number, word);
    wide (*reference)(wide, wide);
    double usual = 0;  // arguments are often below this

    wide exact(word a, word b) const { return reference(f(a), arguments == 3 ? wide(int(b)) : wide(f(b))); }
};

wide power(wide x, wide y) {  // powr: only of numbers that are not negative
    const bool ends = x == 0 || std::isinf(x);
    return x < 0 || (ends && y == 0) || (x == 1 && std::isinf(y)) || std::isnan(x) || std::isnan(y) ? wide(NAN) : std::pow(std::fabs(x), y);
}

wide root(wide x, int n) {
    if (n == 0 || (x < 0 && n % 2 == 0)) return NAN;
    const wide size = std::pow(std::fabs(x), 1 / wide(n));
    return n % 2 ? std::copysign(size, x) : size;
}

wide ulp(wide exact) {
    int exponent;
    std::frexp(exact, &exponent);
    return std::ldexp(wide(1), (exponent < Limits::min_exponent ? Limits::min_exponent : exponent) - Limits::digits);
}

wide unit(const Function &function, wide x, wide exact);

// Sine, cosine and tangent of half turns; zeros and infinities as OpenCL says.
const wide pi = 3.14159265358979323846264338327950288L;

wide of_turn(wide x, int quarter) {
    // pi * r for the r from -1/4 to 1/4 that is left of x after whole quarters
    const wide turns = std::fmod(std::fabs(x), wide(2)), nearest = std::floor(2 * turns + wide(0.5)), rest = pi * (turns - nearest / 2);
    quarter = (int(nearest) + quarter) & 3;
    const wide result = quarter & 1 ? std::cos(rest) : std::sin(rest);
    return result == 0 ? wide(0) : quarter & 2 ? -result : result;
}

wide sine_of_turn(wide x) { return std::copysign(wide(1), x) * of_turn(x, 0); }
wide cosine_of_turn(wide x) { return of_turn(x, 1); }
wide tangent_of_turn(wide x) {
    const wide sine = of_turn(x, 0), cosine = of_turn(x, 1);
    const wide result = cosine == 0 ? sine * wide(INFINITY) : sine / cosine;
    return std::copysign(wide(1), x) * (sine == 0 ? std::copysign(wide(0), cosine) : result);
}

struct Worst {
    wide error = 0;
    word x = 0, y = 0;
    uint64_t wrong = 0;

    void see(const Function &function, word a, word b) {
        const wide exact = function.exact(a, b), bound = std::ldexp(wide(1), Limits::max_exponent);
        const number got = function.result(f(a), b), near = number(exact);
        const bool special = !std::isfinite(near) || !std::isfinite(got) || near == 0;
        const bool same = std::isnan(near) ? std::isnan(got) : near == got && std::signbit(near) == std::signbit(got);
        // next to infinity and zero a result may be one unit off like anywhere else
        const wide held = std::fmin(std::fmax(wide(got), -bound), bound);
        const wide error = std::isnan(near) || std::isnan(got) ? 0 : std::fabs(held - exact) / unit(function, f(a), exact);
        const bool close = error < 1 && std::signbit(near) == std::signbit(got);
        if (special && !same && !close) {
            if (!wrong++) x = a, y = b;
        } else if ((!special || close) && error > this->error && std::fabs(exact) < bound) {
            this->error = error;
            if (!wrong) x = a, y = b;
        }
    }

    void print(const char *name, uint64_t tried) const {
        const int digits = 2 * sizeof(word);
        printf("%s %.4Lf %0*" PRIx64 " %0*" PRIx64 " %" PRIu64 " %" PRIu64 "\n", name, (long double)error, digits, uint64_t(x), digits, uint64_t(y), wrong, tried);
        fflush(stdout);
    }
};

uint64_t state;

uint64_t random_bits() {  // xorshift64*
    state ^= state >> 12; state ^= state << 25; state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
}

template <size_t N> int evaluate(const Function (&functions)[N], const char *name) {
    for (const Function &function : functions) {
        if (strcmp(name, function.name)) continue;
        uint64_t a, b;
        while (scanf("%" SCNx64 " %" SCNx64, &a, &b) == 2)
            printf("%0*" PRIx64 " %.*Lg\n", int(2 * sizeof(word)), uint64_t(bits_of(function.result(f(word(a)), word(b)))),
                   std::numeric_limits<wide>::max_digits10, (long double)function.exact(word(a), word(b)));
        return 0;
    }
    fprintf(stderr, "no function %s\n", name);
    return 2;
}

// The command line: `measure` finds the largest error of a function; its second argument says how many arguments to try.
template <size_t N> int run(const Function (&functions)[N], void (*measure)(const Function &, uint64_t), int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "eval")) return evaluate(functions, argv[2]);
    if (argc < 4 || strcmp(argv[1], "worst")) { fprintf(stderr, "usage: see the top of the measure's source\n"); return 2; }
    state = strtoull(argv[3], nullptr, 0) * 2 + 1;
    for (const Function &function : functions) {
        bool wanted = argc == 4;
        for (int k = 4; k < argc; ++k) wanted |= !strcmp(argv[k], function.name);
        if (wanted) measure(function, strtoull(argv[2], nullptr, 0));
    }
    return 0;
}

}  // namespace
