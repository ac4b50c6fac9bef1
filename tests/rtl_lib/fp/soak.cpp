// Feeds streams of operands to many arithmetic parts at once and compares every result with what this processor computes.
// Usage: soak VECTORS SEED. Exit code 1 at the first difference, which is printed; else the number of results compared, and on
// the next line that of each case.
//
// Each format has operands of its own (a, b, c); integers are a stream of 64 bits. First come all triples of special values,
// then VECTORS random ones; parts with one half operand see all 65,536 of them in turn.
#include <cfenv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "Vsoak.h"

namespace {

uint64_t state;

uint64_t random_bits() {  // xorshift64*
    state ^= state >> 12; state ^= state << 25; state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
}

template <class Float> struct Layout;
template <> struct Layout<_Float16> { using Word = uint16_t; static const int exponent = 5, mantissa = 10; };
template <> struct Layout<float> { using Word = uint32_t; static const int exponent = 8, mantissa = 23; };
template <> struct Layout<double> { using Word = uint64_t; static const int exponent = 11, mantissa = 52; };

template <class Float> Float from_bits(uint64_t bits) {
    const typename Layout<Float>::Word word = bits; Float x; memcpy(&x, &word, sizeof x); return x;
}

template <class Float> uint64_t to_bits(Float x) {  // every NaN is the one that the parts return
    using L = Layout<Float>;
    if (x != x) return ((2ull << L::exponent) - 1) << (L::mantissa - 1);
    typename L::Word word; memcpy(&word, &x, sizeof x); return word;
}

// Exponents at both ends, around one, or anywhere; mantissas of few ones, few zeros, or any.
template <class Float> uint64_t random_float() {
    using L = Layout<Float>;
    const uint64_t r = random_bits();
    const int top = (1 << L::exponent) - 1, bias = top / 2;
    const int edges[] = {0, 1, 2, 3, top - 2, top - 1, top, bias - 1, bias, bias + 1, bias - L::mantissa - 1,
                         bias + L::mantissa, L::mantissa, L::mantissa + 1, top - L::mantissa - 2, bias / 2};
    const uint64_t exponent = r & 1 ? (r >> 1 & top) : edges[r >> 1 & 15];
    uint64_t mantissa = random_bits();
    if (r & 1 << 13) mantissa = 1ull << (r >> 14 & 63) | 1ull << (r >> 20 & 63);
    if (r & 1 << 26) mantissa = ~mantissa;
    return (r >> 27 & 1) << (L::exponent + L::mantissa) | exponent << L::mantissa | (mantissa & ((1ull << L::mantissa) - 1));
}

struct Operands { uint64_t a, b, c; };

// Often b is near a in magnitude, or a * b is about to underflow; often c is near a * b, or its opposite.
template <class Float> Operands random_operands() {
    using L = Layout<Float>;
    const uint64_t r = random_bits(), sign = 1ull << (L::exponent + L::mantissa), one = 1ull << L::mantissa;
    const int top = (1 << L::exponent) - 1;
    uint64_t a = random_float<Float>(), b = random_float<Float>(), c = random_float<Float>();
    if ((r & 3) == 0) b = (a + (r >> 8 & 3) - (r >> 10 & 3) + (r >> 12 & 3) * one) ^ (r >> 14 & 1 ? sign : 0);
    if ((r & 3) == 1) {
        const int field = top / 2 - int(a >> L::mantissa & top) - L::mantissa - 2 + int((r >> 8) % (L::mantissa + 8));
        if (field >= 0 && field < top) b = (b & ~(top * one)) | field * one;
    }
    if (r >> 15 & 1) {
        const Float product = from_bits<Float>(a) * from_bits<Float>(b);
        c = (to_bits(product) ^ (r >> 16 & 1 ? sign : 0)) + (r >> 17 & 3) - (r >> 19 & 3);
        if ((r >> 21 & 3) == 0) c += ((r >> 23 & 31) - 16) * one;
    }
    const uint64_t all = sign | (sign - 1);
    return {a & all, b & all, c & all};
}

// Zero, the ends of subnormal and normal numbers, 1 and its neighbours, 3, infinity, a quiet and a signalling NaN; both signs.
template <class Float> std::vector<uint64_t> special_floats() {
    using L = Layout<Float>;
    const uint64_t one = 1ull << L::mantissa, top = (1ull << L::exponent) - 1, bias = top / 2 * one, sign = (top + 1) * one;
    std::vector<uint64_t> found;
    for (uint64_t x : {uint64_t(0), uint64_t(1), uint64_t(2), one / 2, one - 1, one, one + 1, 2 * one, bias - 1, bias, bias + 1,
                       bias + one + one / 2, top * one - 1, top * one, top * one + 1, top * one + one / 2})
        found.insert(found.end(), {x, x | sign});
    return found;
}

const uint64_t specials = 32;  // values of each format

template <class Float> Operands special_operands(uint64_t n) {
    static const std::vector<uint64_t> values = special_floats<Float>();
    return {values[n % specials], values[n / specials % specials], values[n / specials / specials]};
}

// 64-bit integers of any size; the lower halves are of any size, too.
Operands random_integers() {
    const uint64_t r = random_bits();
    uint64_t x[2];
    for (uint64_t &each : x) {
        const uint64_t high = random_bits() >> (random_bits() & 63), low = random_bits() >> (random_bits() & 63);
        each = (r >> 6 & 1 ? high : -high) << 32 ^ (random_bits() & 1 ? low : -low);
    }
    if ((r & 15) == 0) x[1] = 0;
    if ((r & 15) == 1) x[0] = 1ull << (r >> 8 & 63), x[1] = -1ull;
    return {x[0], x[1], 0};
}

enum Rounding { even, zero, up, down, away };

double rounded(Rounding mode, double x) {
    switch (mode) {
        case even: return std::nearbyint(x);
        case zero: return std::trunc(x);
        case up: return std::ceil(x);
        case down: return std::floor(x);
        default: return std::round(x);
    }
}

// A number rounded once to a narrower format by the processor, which rounds ties away in no mode of its own.
template <class Float, Rounding mode, class Wide> Float narrowed(Wide x) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    volatile Wide from = x;
    fesetround(modes[mode]);
    volatile Float to = Float(from);
    fesetround(FE_TONEAREST);
    return to;
}

template <class Int> uint64_t saturated(double x) {
    using Word = typename std::make_unsigned<Int>::type;
    if (std::isnan(x)) return 0;
    // Both limits are powers of two (or zero), hence exact as floats.
    if (x < double(std::numeric_limits<Int>::min())) return Word(std::numeric_limits<Int>::min());
    if (x >= std::ldexp(1.0, std::numeric_limits<Int>::digits)) return Word(std::numeric_limits<Int>::max());
    return Word(Int(x));
}

#define F(operand) from_bits<T>(v.operand)
template <class T> uint64_t fadd(Operands v) { return to_bits<T>(F(a) + F(b)); }
template <class T> uint64_t fsub(Operands v) { return to_bits<T>(F(a) - F(b)); }
template <class T> uint64_t fmul(Operands v) { return to_bits<T>(F(a) * F(b)); }
template <class T> uint64_t fdiv(Operands v) { return to_bits<T>(F(a) / F(b)); }
template <class T> uint64_t fsqrt(Operands v) { return to_bits<T>(T(std::sqrt(double(F(a))))); }
template <class T> uint64_t fma(Operands v) {
    if constexpr (sizeof(T) == 2) return to_bits<T>(T(__float128(F(a)) * __float128(F(b)) + __float128(F(c))));
    else return to_bits<T>(std::fma(F(a), F(b), F(c)));
}
template <> uint64_t fsqrt<float>(Operands v) { return to_bits<float>(std::sqrt(from_bits<float>(v.a))); }
template <class T> uint64_t oeq(Operands v) { return F(a) == F(b); }
template <class T> uint64_t one(Operands v) { return F(a) < F(b) || F(a) > F(b); }
template <class T> uint64_t une(Operands v) { return F(a) != F(b); }
template <class T> uint64_t olt(Operands v) { return F(a) < F(b); }
template <class T> uint64_t ole(Operands v) { return F(a) <= F(b); }
template <class T> uint64_t ogt(Operands v) { return F(a) > F(b); }
template <class T> uint64_t oge(Operands v) { return F(a) >= F(b); }
template <class T> uint64_t ord(Operands v) { return F(a) == F(a) && F(b) == F(b); }
template <class T> uint64_t uno(Operands v) { return !ord<T>(v); }
template <class T, Rounding mode> uint64_t integral(Operands v) { return to_bits<T>(T(rounded(mode, F(a)))); }
template <class T, class Int, Rounding mode> uint64_t ftoi(Operands v) { return saturated<Int>(rounded(mode, F(a))); }
template <class T, class Int, Rounding mode> uint64_t itof(Operands v) {
    return to_bits<T>(narrowed<T, mode>((long double)(Int(v.a))));
}
template <class T, class To, Rounding mode> uint64_t resize(Operands v) { return to_bits<To>(narrowed<To, mode>(F(a))); }
#undef F

// What an operation gives where subnormal operands and results are zeros of their sign.
template <class T> uint64_t without_subnormal(uint64_t bits) {
    using L = Layout<T>;
    const uint64_t sign = 1ull << (L::exponent + L::mantissa), field = ((1ull << L::exponent) - 1) << L::mantissa;
    return bits & field ? bits : bits & sign;
}
template <class T, uint64_t (*operation)(Operands)> uint64_t flushed(Operands v) {
    return without_subnormal<T>(operation({without_subnormal<T>(v.a), without_subnormal<T>(v.b), without_subnormal<T>(v.c)}));
}

template <class Int> uint64_t mul(Operands v) { return Int(v.a) * Int(v.b); }
uint64_t mulwide(Operands v) { return uint64_t(int64_t(int32_t(v.a)) * int32_t(v.b)); }

template <class Int> Int quotient(Operands v) {
    const Int x = v.a, y = v.b;
    if (std::is_signed<Int>::value && y == Int(-1)) return Int(0 - uint64_t(x));
    return y ? x / y : Int(-1);
}
template <class Int> uint64_t divide(Operands v) { return typename std::make_unsigned<Int>::type(quotient<Int>(v)); }
template <class Int> uint64_t modulo(Operands v) {
    return typename std::make_unsigned<Int>::type(uint64_t(Int(v.a)) - uint64_t(quotient<Int>(v)) * (v.b ? uint64_t(Int(v.b)) : 0));
}

enum Stream { integers, halves, floats, doubles, streams };

struct Case {
    const char *name;
    Stream stream;
    unsigned latency;
    uint64_t (*reference)(Operands);
    uint64_t (*result)(const Vsoak &);
};

// A comma inside a macro's argument would end it: the reference comes last.
#define CASE(port, stream, latency, ...) \
    {#port, stream, latency, __VA_ARGS__, [](const Vsoak &top) -> uint64_t { return top.o_##port; }},
const Case cases[] = {
#include "cases.h"
};

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) { fprintf(stderr, "usage: %s VECTORS SEED\n", argv[0]); return 2; }
    const uint64_t triples = specials * specials * specials, vectors = triples + strtoull(argv[1], nullptr, 0);
    state = strtoull(argv[2], nullptr, 0) * 2 + 1;
    Vsoak top;
    const unsigned history = 256;  // more than any latency
    std::vector<Operands> past[streams];
    for (auto &each : past) each.resize(history);
    bool used[streams] = {};
    for (const Case &c : cases) used[c.stream] = true;
    std::vector<uint64_t> compared(sizeof cases / sizeof *cases);
    for (uint64_t n = 0; n < vectors;) {
        const bool special = n < triples;
        Operands now[streams] = {};
        if (used[integers]) now[integers] = random_integers();
        if (used[halves]) now[halves] = special ? special_operands<_Float16>(n) : random_operands<_Float16>();
        if (used[floats]) now[floats] = special ? special_operands<float>(n) : random_operands<float>();
        if (used[doubles]) now[doubles] = special ? special_operands<double>(n) : random_operands<double>();
        if (!special && n - triples < 65536) now[halves].a = n - triples;
        top.en = (random_bits() & 7) != 0;
        top.a_integers = now[integers].a; top.b_integers = now[integers].b;
        top.a_halves = now[halves].a; top.b_halves = now[halves].b; top.c_halves = now[halves].c;
        top.a_floats = now[floats].a; top.b_floats = now[floats].b; top.c_floats = now[floats].c;
        top.a_doubles = now[doubles].a; top.b_doubles = now[doubles].b; top.c_doubles = now[doubles].c;
        for (int k = 0; top.en && k < streams; ++k) past[k][n % history] = now[k];
        top.clk = 0; top.eval();
        for (const Case &c : cases) {
            if (!top.en || n < c.latency) continue;
            const Operands then = past[c.stream][(n - c.latency) % history];
            const uint64_t got = c.result(top), want = c.reference(then);
            ++compared[&c - cases];
            if (got != want) {
                printf("%s latency %u: a=%" PRIx64 " b=%" PRIx64 " c=%" PRIx64 " gave %" PRIx64 ", not %" PRIx64 "\n",
                       c.name, c.latency, then.a, then.b, then.c, got, want);
                return 1;
            }
        }
        n += top.en;
        top.clk = 1; top.eval();
    }
    printf("%" PRIu64 " results compared\n", std::accumulate(compared.begin(), compared.end(), uint64_t(0)));
    for (uint64_t count : compared) printf("%" PRIu64 " ", count);
    printf("\n");
    return 0;
}
