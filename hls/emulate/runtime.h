// What the C++ text of emulated kernels begins with: types, checked memory accesses, arithmetic as the IR defines it,
// and the runner. One text is one library; one run at a time in it.

#include <initializer_list>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

#ifdef HASTY
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif
#define COLD static __attribute__((noinline, cold))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// ---- what the host shares with a run (mirrored in sim/emulator/library.py)

enum Ending : u32 {
    FINISHED, READ_OUTSIDE, WRITE_OUTSIDE, NO_POINTER, LOOP_LIMIT, STOPPED, NO_MEMORY, WAITING, NO_CHANNEL, PARTED,
    BROKEN_PROMISE, FAILED_EARLY
};

struct Buffer {
    u8 *data;
    u64 size;
};

struct Launch {
    u64 kernel;
    const Buffer *buffers;
    const u8 *scalars;  // the bytes of each at the offset that the text gives it, then the hidden launch arguments
    u64 global_size[3], local_size[3], num_groups[3], global_offset[3], work_dim;
    const u64 *local_sizes;  // of each local memory argument, in bytes
    const u64 *after;        // 1 when the launch before this one in its queue has ended; or null
    u64 *ended;              // becomes 1
};

// A launch that cannot go on, at an operation on a channel.
struct Wait {
    u64 launch, site, channel, writes;
};

struct Control {
    volatile u64 stop;       // set by the host: end at the next iteration of any loop
    u64 max_iterations;      // of one invocation of one loop
    u64 patience;            // rounds in which launches do nothing but look at channels that are not ready
    u64 *unset_reads;        // for each site: elements read before they were written
    u64 ending, site, memory, bytes;
    i64 offset;
    u64 size;
    Wait *waits;             // what waits for what, when nothing can go on
    u64 max_waits, wait_count;
    u64 launch;              // that ended the run
    u8 *log;                 // what printf was given (see print)
    u64 log_bytes;
    u64 promise_site, earlier_site, earlier, later, writes;  // of a broken promise (see promises.h)
    u64 condition_site, group[3], first[3], other[3];  // of a group that parts: by what, and two work-items that do
};

static Control *control;
static u64 running;  // the number of the launch whose turn it is
static jmp_buf leave;

[[noreturn]] COLD void end_run(Ending ending, u32 site) {
    control->ending = ending;
    control->site = site;
    control->launch = running;
    _longjmp(leave, 1);
}

// A few elements held as one value.
template <class T, unsigned N> struct Array {
    T e[N];
};

// ---- memory

// A place: byte `off` of the memory object of `size` bytes at `data`. `seen` has a byte for each of them that says
// whether it was ever written, where that is watched. The object number 0 is none: a pointer that was never set.
struct Ptr {
    u8 *data, *seen;
    u64 size, off;
    u32 memory;
};

// Arithmetic of byte offsets, signed. What has more than 64 bits is OUTSIDE, the least number, far from every memory, and so
// is all that is computed from that.
const u64 OUTSIDE = 1ull << 63;

INLINE u64 address_mul(u64 a, u64 b) {
    long long product;
    return UNLIKELY(__builtin_mul_overflow((long long)a, (long long)b, &product)) ? OUTSIDE : (u64)product;
}

INLINE u64 address_add(u64 a, u64 b) {
    long long sum;
    bool wraps = __builtin_add_overflow((long long)a, (long long)b, &sum);
    return UNLIKELY(wraps || a == OUTSIDE || b == OUTSIDE) ? OUTSIDE : (u64)sum;
}

INLINE u64 address_sub(u64 a, u64 b) {
    long long difference;
    bool wraps = __builtin_sub_overflow((long long)a, (long long)b, &difference);
    return UNLIKELY(wraps || a == OUTSIDE || b == OUTSIDE) ? OUTSIDE : (u64)difference;
}

INLINE Ptr moved(Ptr p, u64 bytes) {
    p.off = address_add(p.off, bytes);
    return p;
}

[[noreturn]] COLD void outside(const Ptr &p, Ending ending, u32 site, u64 bytes) {
    control->memory = p.memory;
    control->offset = (i64)p.off;
    control->bytes = bytes;
    control->size = p.size;
    end_run(p.memory ? ending : NO_POINTER, site);
}

INLINE bool is_inside(const Ptr &p, u64 bytes) { return p.off < (p.size >= bytes ? p.size - bytes + 1 : 0); }

INLINE void inside(const Ptr &p, Ending ending, u32 site, u64 bytes) {
    if (UNLIKELY(!is_inside(p, bytes))) outside(p, ending, site, bytes);
}

// The program makes a load that was made early and failed; which address it had is not known any more.
[[noreturn]] COLD void failed_early(const Ptr &buffer, u32 site) { outside(buffer, FAILED_EARLY, site, 0); }

COLD void report_unset(u32 site) { control->unset_reads[site]++; }

INLINE void check_set(bool set, u32 site) {
    if (UNLIKELY(!set)) report_unset(site);
}

template <unsigned N> INLINE bool was_set(const Ptr &p) {
    if (!p.seen) return true;
    u8 all = 1;
    for (unsigned k = 0; k < N; k++) all &= p.seen[p.off + k];
    return all;
}

// Reads a T; `set` says whether all of its bytes were written before.
template <class T> INLINE T read(const Ptr &p, u32 site, bool &set) {
    inside(p, READ_OUTSIDE, site, sizeof(T));
    set = was_set<sizeof(T)>(p);
    T value;
    memcpy(&value, p.data + p.off, sizeof value);
    return value;
}

template <class T> INLINE T read(const Ptr &p, u32 site) {
    bool set;
    T value = read<T>(p, site, set);
    check_set(set, site);
    return value;
}

// Reads a T before it is known whether the program does; outside its memory some value on which nothing depends.
template <class T> INLINE T read_early(const Ptr &p) {
    T value;
    if (p.memory && p.off <= p.size && p.size - p.off >= sizeof value) memcpy(&value, p.data + p.off, sizeof value);
    else memset(&value, 0xff, sizeof value);
    return value;
}

// Writes a T. A copy of what was never set stays unset where that is watched; elsewhere it is reported at `from`.
template <class T> INLINE void write(const Ptr &p, T value, u32 site, bool set = true, u32 from = 0) {
    inside(p, WRITE_OUTSIDE, site, sizeof(T));
    memcpy(p.data + p.off, &value, sizeof value);
    if (p.seen) memset(p.seen + p.off, set, sizeof value);
    else check_set(set, from);
}

// Makes a private memory new: all 0, which counts as set by the program or not.
INLINE void renew(const Ptr &p, bool set) {
    memset(p.data, 0, p.size);
    if (p.seen) memset(p.seen, set, p.size);
}

// Pointers have 8 bytes in the kernel's eyes and sizeof(Ptr) here.
INLINE Ptr read_pointer(const Ptr &p, u32 site) {
    inside(p, READ_OUTSIDE, site, 8);
    return ((const Ptr *)p.data)[p.off / 8];
}

INLINE void write_pointer(const Ptr &p, const Ptr &value, u32 site) {
    inside(p, WRITE_OUTSIDE, site, 8);
    ((Ptr *)p.data)[p.off / 8] = value;
}

INLINE void renew_pointers(const Ptr &p) { memset(p.data, 0, p.size / 8 * sizeof(Ptr)); }

// ---- arithmetic: undefined cases of C are what hls/ir/values.py says

template <class To, class From> INLINE To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// elements of so many bits each, side by side
template <class To, class T, unsigned N> INLINE To packed(const Array<T, N> &from, int bits) {
    To to = 0;
    for (unsigned k = 0; k < N; k++) to |= (To)from.e[k] << k * bits;
    return to;
}

// What arithmetic makes of a NaN; whatever else moves one keeps its bits.
INLINE float one_nan(float x) { return x == x ? x : __builtin_nanf(""); }
INLINE double one_nan(double x) { return x == x ? x : __builtin_nan(""); }
INLINE u32 float_bits(float x) { return bits_as<u32>(x); }
INLINE u64 double_bits(double x) { return bits_as<u64>(x); }

// x of n bits as a signed number
INLINE i32 sign32(u32 x, int n) { return (i32)(x << (32 - n)) >> (32 - n); }
INLINE i64 sign64(u64 x, int n) { return (i64)(x << (64 - n)) >> (64 - n); }

template <class S> INLINE S divide(S a, S b) { return b == 0 ? (S)-1 : b == (S)-1 && (S)-1 < 0 ? (S)(0 - a) : (S)(a / b); }
template <class S> INLINE S remain(S a, S b) { return b == 0 ? a : b == (S)-1 && (S)-1 < 0 ? (S)0 : (S)(a % b); }

INLINE u64 shift_left(u64 a, u64 b, int n) { return b < (u64)n ? a << b : 0; }
INLINE u64 shift_right(u64 a, u64 b, int n) { return b < (u64)n ? a >> b : 0; }
INLINE i64 shift_arithmetic(i64 a, u64 b, int n) { return a >> (b < (u64)n ? b : (u64)n - 1); }

// ---- rounding (hls/ir/exact.py)

enum Rounding { EVEN, ZERO, UP, DOWN, AWAY };

// x as an integral number, with the sign of x
INLINE double integral(double x, Rounding rounding) {
    switch (rounding) {
    case EVEN: return nearbyint(x);
    case ZERO: return trunc(x);
    case UP: return ceil(x);
    case DOWN: return floor(x);
    default: return round(x);
    }
}

// x as an integer of n bits, saturating; NaN becomes 0
INLINE u64 to_signed(double x, int n, Rounding rounding) {
    double limit = ldexp(1.0, n - 1);
    if (x != x) return 0;
    if (rounding != ZERO) x = integral(x, rounding);
    if (x >= limit) return ((u64)1 << (n - 1)) - 1;
    return x <= -limit ? (u64)0 - ((u64)1 << (n - 1)) : (u64)(i64)x;
}
INLINE u64 to_unsigned(double x, int n, Rounding rounding) {
    if (rounding != ZERO) x = integral(x, rounding);
    if (!(x > 0)) return 0;
    if (x >= ldexp(1.0, n)) return ~(u64)0 >> (64 - n);
    return (u64)x;
}

// what is known of a format: bits of the significand, exponent of the least number and of the largest one
struct Format {
    int precision, lowest, highest;
};
INLINE Format format_of(int bits) {
    return bits == 16 ? Format{11, -24, 15} : bits == 32 ? Format{24, -149, 127} : Format{53, -1074, 1023};
}

static double in_range(double x, Format f, Rounding rounding) {
    double largest = ldexp(1.0, f.highest + 1) - ldexp(1.0, f.highest + 1 - f.precision);
    if (fabs(x) <= largest) return x;
    bool inward = rounding == ZERO || rounding == (x < 0 ? UP : DOWN);
    return copysign(inward ? largest : INFINITY, x);
}

// x in the format of `bits` bits
static double resized(double x, int bits, Rounding rounding) {
    if (x == 0 || !isfinite(x)) return x;
    Format f = format_of(bits);
    int unit = ilogb(x) - f.precision + 1;
    if (unit < f.lowest) unit = f.lowest;
    return in_range(ldexp(integral(ldexp(x, -unit), rounding), unit), f, rounding);
}
INLINE double resize(double x, int bits, Rounding rounding) {
    return bits == 64 ? x : bits == 32 && rounding == EVEN ? (float)x : resized(x, bits, rounding);
}

// an integer in the format of `bits` bits, rounded once
static double rounded_integer(bool negative, u64 magnitude, int bits, Rounding rounding) {
    Format f = format_of(bits);
    int length = magnitude ? 64 - __builtin_clzll(magnitude) : 0, drop = length > f.precision ? length - f.precision : 0;
    u64 kept = magnitude >> drop, rest = magnitude - (kept << drop), half = (u64)1 << drop >> 1;
    bool outward = rounding == (negative ? DOWN : UP), nearest = rounding == EVEN || rounding == AWAY;
    if (rest && (outward || (nearest && (rest > half || (rest == half && (rounding == AWAY || kept & 1)))))) kept++;
    double value = ldexp((double)kept, drop);
    return in_range(negative ? -value : value, f, rounding);
}
INLINE double from_unsigned(u64 x, int bits, Rounding rounding) {
    if (rounding == EVEN && bits > 16) return bits == 32 ? (double)(float)x : (double)x;
    return rounded_integer(false, x, bits, rounding);
}
INLINE double from_signed(i64 x, int bits, Rounding rounding) {
    if (rounding == EVEN && bits > 16) return bits == 32 ? (double)(float)x : (double)x;
    return rounded_integer(x < 0, x < 0 ? (u64)0 - (u64)x : (u64)x, bits, rounding);
}

// Half precision is computed in float, which is wide enough that rounding once more is exact. A NaN has its bits at the top of a float's.
INLINE float half_value(u16 bits) {
    u32 sign = (u32)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31) return bits_as<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) return bits_as<float>(sign | bits_as<u32>((float)fraction * 0x1p-24f));
    return bits_as<float>(sign | (exponent + 112) << 23 | fraction << 13);
}
INLINE u16 half_bits(float x) {
    u16 sign = (u16)(bits_as<u32>(x) >> 16 & 0x8000);
    if (x != x) {
        u16 fraction = (u16)(bits_as<u32>(x) >> 13 & 0x3ff);
        return sign | 0x7c00 | (fraction ? fraction : 0x200);
    }
    float magnitude = fabsf(x);
    if (magnitude >= 65520.0f) return sign | 0x7c00;
    if (magnitude < 0x1p-14f) return sign | (u16)nearbyintf(magnitude * 0x1p24f);
    u32 bits = bits_as<u32>(magnitude);
    bits += 0xfff + (bits >> 13 & 1);
    return sign | (u16)((bits >> 13) - (112 << 10));
}
INLINE float half_round(float x) { return half_value(half_bits(x)); }

// A number without its sign: a conversion to double on the way would change the bits of a NaN.
INLINE float magnitude(float x) { return __builtin_fabsf(x); }
INLINE double magnitude(double x) { return __builtin_fabs(x); }

// A subnormal number as a zero of its sign.
INLINE float flushed(float x) { return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0, x) : x; }
INLINE double flushed(double x) { return __builtin_fabs(x) < 0x1p-1022 ? __builtin_copysign(0, x) : x; }

// a * b + c with one rounding
INLINE float fused(float a, float b, float c) { return fmaf(a, b, c); }
INLINE double fused(double a, double b, double c) { return fma(a, b, c); }
// The product is exact in double. The sum is rounded to odd, so that rounding it once more rounds the exact one.
static float half_fused(float a, float b, float c) {
    double product = (double)a * b, total = product + c, part = total - product;
    double error = (product - (total - part)) + (c - part);
    if (isfinite(total) && error != 0 && !(bits_as<u64>(total) & 1)) total = nextafter(total, copysign(INFINITY, error));
    return (float)resized(total, 16, EVEN);
}

// A format: digits of its significand, exponents of its least number and of its largest one.
template <unsigned BITS> struct Layout;
template <> struct Layout<16> { static constexpr int digits = 11, lowest = -24, highest = 15; };
template <> struct Layout<32> { static constexpr int digits = 24, lowest = -149, highest = 127; };
template <> struct Layout<64> { static constexpr int digits = 53, lowest = -1074, highest = 1023; };

template <class T> struct Term { bool minus; T a, b; };

// total * 2^unit as a number of the format, rounded once; total is not 0
template <unsigned BITS> static double rounded_once(__int128 total, int unit) {
    using L = Layout<BITS>;
    const unsigned __int128 size = total < 0 ? -(unsigned __int128)total : (unsigned __int128)total;
    const u64 high = u64(size >> 64);
    const int length = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(u64(size));
    const int last = unit + length - L::digits > L::lowest ? unit + length - L::digits : L::lowest, right = last - unit;
    u64 kept = right > 0 ? u64(size >> right) : u64(size << -right);
    if (right > 0) {
        const unsigned __int128 rest = size & (((unsigned __int128)1 << right) - 1), half = (unsigned __int128)1 << (right - 1);
        kept += rest > half || (rest == half && (kept & 1));
    }
    double result = ldexp(double(kept), last);
    if (BITS < 64 && result >= ldexp(1.0, L::highest + 1)) result = INFINITY;
    return total < 0 ? -result : result;
}

// A sum of products with one rounding; what lies 4 bits below the last one of the greatest product is cut off before.
template <unsigned BITS, class T> static T fused_sum(std::initializer_list<Term<T>> terms) {
    using L = Layout<BITS>;
    double odd = 0;
    int unit = L::lowest - L::digits + 1;
    bool finite = true, all_zero = true, all_minus = true;
    auto place = [](T x) { int e; frexp(double(x), &e); return e - L::digits > L::lowest ? e - L::digits : L::lowest; };
    for (const auto &t : terms) {
        const bool zero = t.a == 0 || t.b == 0, fits = isfinite(t.a) && isfinite(t.b);
        if (!fits) odd += (t.minus ? -1.0 : 1.0) * double(t.a) * double(t.b);
        finite = finite && fits;
        all_zero = all_zero && zero;
        all_minus = all_minus && (t.minus != (signbit(t.a) != signbit(t.b)));
        if (!zero && fits && place(t.a) + place(t.b) > unit) unit = place(t.a) + place(t.b);
    }
    if (!finite) return T(odd);
    if (all_zero) return T(all_minus ? -0.0 : 0.0);
    unit -= 4;
    __int128 total = 0;
    for (const auto &t : terms) {
        const int a = place(t.a), b = place(t.b), left = a + b - unit;
        const __int128 product = (__int128)(i64)ldexp(double(t.a), -a) * (i64)ldexp(double(t.b), -b);
        const __int128 size = product < 0 ? -product : product;
        const __int128 cut = size == 0 || left < -127 ? 0 : left >= 0 ? size << left : size >> -left;
        total += (product < 0) != t.minus ? -cut : cut;
    }
    return total ? T(rounded_once<BITS>(total, unit)) : T(0);
}

template <class T, unsigned N> INLINE T extracted(const Array<T, N> &a, u64 index) { return index < N ? a.e[index] : T(); }
template <class T, unsigned N> INLINE Array<T, N> inserted(Array<T, N> a, u64 index, T value) {
    if (index < N) a.e[index] = value;
    return a;
}
template <class To, class From, unsigned N, class Convert> INLINE Array<To, N> each(const Array<From, N> &a, Convert convert) {
    Array<To, N> to;
    for (unsigned k = 0; k < N; k++) to.e[k] = convert(a.e[k]);
    return to;
}

// A pointer that was never set is null, and so is an argument for which the host passed no buffer.
INLINE bool same_place(const Ptr &a, const Ptr &b) {
    if (!a.size || !b.size) return a.size == b.size;
    return a.data == b.data && a.off == b.off && a.memory == b.memory;
}

// As hls.ir.storage.address: each object begins at a multiple of 64 KiB, and none at 0.
INLINE u64 address(const Ptr &p) {
    return p.size ? p.memory * ((1ull << 36) + (1ull << 16)) + p.off : 0;
}

template <class T> INLINE T scalar(const Launch &launch, u64 offset) {
    T value;
    memcpy(&value, launch.scalars + offset, sizeof value);
    return value;
}
