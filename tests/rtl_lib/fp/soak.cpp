// Feeds one random stream of operands to many arithmetic parts at once and compares every result with what this
// processor computes. Usage: soak VECTORS SEED. Exit code 1 at the first difference, which is printed.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "Vsoak.h"

namespace {

struct Operands { uint64_t a, b; };

uint64_t state;

uint64_t random_bits() {  // xorshift64*
    state ^= state >> 12; state ^= state << 25; state ^= state >> 27;
    return state * 0x2545F4914F6CDD1DULL;
}

// Exponents at both ends, around one, or anywhere; mantissas of few ones, few zeros, or any.
uint32_t random_float() {
    const uint64_t r = random_bits();
    static const uint32_t edges[] = {0, 1, 2, 3, 253, 254, 255, 126, 127, 128, 103, 150, 23, 24, 230, 64};
    const uint32_t exponent = r & 1 ? (r >> 1 & 255) : edges[r >> 1 & 15];
    uint32_t mantissa = r >> 32;
    if (r & 1 << 10) mantissa = 1u << (r >> 12 & 31) | 1u << (r >> 17 & 31);
    if (r & 1 << 11) mantissa = ~mantissa;
    return (r >> 31 & 1) << 31 | exponent << 23 | (mantissa & 0x7fffff);
}

// The low half of each operand is a float, often near the other one in magnitude or with a product about to
// underflow; the upper half makes it a 64-bit integer of any size.
Operands random_operands() {
    const uint64_t r = random_bits();
    uint32_t a = random_float(), b = random_float();
    if ((r & 3) == 0) b = (a + (r >> 8 & 3) - (r >> 10 & 3) + ((r >> 12 & 3) << 23)) ^ (r >> 14 & 1) << 31;
    if ((r & 3) == 1) {
        const int field = 127 - int(a >> 23 & 255) - 25 + int(r >> 8 & 31);
        if (field >= 0 && field < 255) b = (b & 0x807fffff) | uint32_t(field) << 23;
    }
    const uint64_t high = random_bits() >> (r >> 20 & 63), low = random_bits() >> (r >> 26 & 63);
    return {(r >> 4 & 1 ? high : -high) << 32 | a, (r >> 5 & 1 ? low : -low) << 32 | b};
}

float as_float(uint64_t bits) { const uint32_t word = bits; float x; memcpy(&x, &word, 4); return x; }

uint64_t float_bits(float x) {
    if (std::isnan(x)) return 0x7fc00000;
    uint32_t word; memcpy(&word, &x, 4); return word;
}

template <class Int> Int saturated(float x) {
    if (std::isnan(x)) return 0;
    // Both limits are powers of two (or zero), hence exact as floats.
    if (x < float(std::numeric_limits<Int>::min())) return std::numeric_limits<Int>::min();
    if (x >= std::ldexp(1.0f, std::numeric_limits<Int>::digits)) return std::numeric_limits<Int>::max();
    return Int(x);
}

template <class Int> uint64_t divided(uint64_t a, uint64_t b) {  // remainder above quotient, 32 bits each
    const Int x = Int(a), y = Int(b);
    Int q = Int(-1), r = x;
    if (std::is_signed<Int>::value && y == Int(-1)) { q = Int(0u - uint32_t(x)); r = 0; }
    else if (y != 0) { q = x / y; r = x % y; }
    return uint64_t(uint32_t(r)) << 32 | uint32_t(q);
}

#define BINARY(name, expression) \
    uint64_t name(Operands v) { const float a = as_float(v.a), b = as_float(v.b); return expression; }
BINARY(fadd, float_bits(a + b))
BINARY(fsub, float_bits(a - b))
BINARY(fmul, float_bits(a * b))
BINARY(fdiv, float_bits(a / b))
BINARY(fsqrt, (void(b), float_bits(std::sqrt(a))))
BINARY(oeq, a == b)
BINARY(une, a != b)
BINARY(olt, a < b)
BINARY(ole, a <= b)
BINARY(ogt, a > b)
BINARY(oge, a >= b)
uint64_t from_i32(Operands v) { return float_bits(float(int32_t(v.a))); }
uint64_t from_u32(Operands v) { return float_bits(float(uint32_t(v.a))); }
uint64_t from_i64(Operands v) { return float_bits(float(int64_t(v.a))); }
uint64_t from_u64(Operands v) { return float_bits(float(uint64_t(v.a))); }
uint64_t to_i32(Operands v) { return uint32_t(saturated<int32_t>(as_float(v.a))); }
uint64_t to_u32(Operands v) { return saturated<uint32_t>(as_float(v.a)); }
uint64_t to_i64(Operands v) { return saturated<int64_t>(as_float(v.a)); }
uint64_t to_u64(Operands v) { return saturated<uint64_t>(as_float(v.a)); }
uint64_t mul32(Operands v) { return uint32_t(v.a) * uint32_t(v.b); }
uint64_t mul64(Operands v) { return v.a * v.b; }
uint64_t mulwide(Operands v) { return uint64_t(int64_t(int32_t(v.a)) * int32_t(v.b)); }
uint64_t udiv32(Operands v) { return divided<uint32_t>(v.a, v.b); }
uint64_t sdiv32(Operands v) { return divided<int32_t>(v.a, v.b); }

struct Case {
    const char *name;
    unsigned latency;
    uint64_t (*reference)(Operands);
    uint64_t (*result)(const Vsoak &);
};

#define CASE(reference, latency) \
    {#reference, latency, reference, [](const Vsoak &top) -> uint64_t { return top.o_##reference##_##latency; }},
const Case cases[] = {
#include "cases.h"
};

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) { fprintf(stderr, "usage: %s VECTORS SEED\n", argv[0]); return 2; }
    const uint64_t vectors = strtoull(argv[1], nullptr, 0);
    state = strtoull(argv[2], nullptr, 0) * 2 + 1;
    Vsoak top;
    const unsigned history = 256;  // more than any latency
    std::vector<Operands> past(history);
    uint64_t compared = 0;
    for (uint64_t n = 0; n < vectors;) {
        const Operands now = random_operands();
        top.en = (random_bits() & 7) != 0;
        top.a = now.a; top.b = now.b;
        if (top.en) past[n % history] = now;
        top.clk = 0; top.eval();
        for (const Case &c : cases) {
            if (!top.en || n < c.latency) continue;
            const Operands then = past[(n - c.latency) % history];
            const uint64_t got = c.result(top), want = c.reference(then);
            ++compared;
            if (got != want) {
                printf("%s latency %u: a=%016" PRIx64 " b=%016" PRIx64 " gave %" PRIx64 ", not %" PRIx64 "\n",
                       c.name, c.latency, then.a, then.b, got, want);
                return 1;
            }
        }
        n += top.en;
        top.clk = 1; top.eval();
    }
    printf("%" PRIu64 " results compared\n", compared);
    return 0;
}
