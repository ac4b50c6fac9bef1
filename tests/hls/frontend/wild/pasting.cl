// what ## makes: numbers with suffixes and exponents, names, operators, and nothing
#define F(x) x##f
#define LL(x) x##LL
#define CAT(a, b) a##b
#define XCAT(a, b) CAT(a, b)
#define THREE(a, b, c) a ## b ## c
#define VARIABLE(n) v_ ## n
#define HEX(x) 0x##x
#define OBJECT hid ## den
#define CHOSEN XCAT(step_, KIND)
#define KIND twice
#define CALL(f, ...) f(n, ## __VA_ARGS__)
#define FIELD(s, name) s.name##_of
#define TEXT(x) #x
#define XTEXT(x) TEXT(x)
#define DEFINE(type, suffix, op) type fold_##suffix(__global const type *x, int n) \
    { type s = x[0]; for (int i = 1; i < n; i++) s op##= x[i]; return s; }

DEFINE(int, xor, ^)
DEFINE(float, plus, +)
int step_twice(int x) { return 2 * x; }
int one(int n) { return n; }
int two(int n, int m) { return n * m; }
typedef struct { int size_of, base_of; } Pair;
__constant char name[] = XTEXT(CAT(a,b) "q\n" 'x'  +   1);
#if LL(0xFF) == 255 && XCAT(1, 0) == 10 && HEX(1F) == 31 && 0x10ULL > 15
#define IN_A_CONDITION 1
#else
#define IN_A_CONDITION 0
#endif

KERNEL {
    int VARIABLE(a) = 3, VARIABLE(1) = 4, hidden = 7, ab = 11, x = n;
    Pair p = { 5, 6 };
    g[0] = F(0.5) + F(1.0) + F(1.) + F(.25) + F(1e1) + F(1.5e+2);
    g[1] = CAT(1., 5f) + CAT(1e, 2) * F(2.0) + CAT(., 5f) + CAT(0x1.8p, 3f) + XCAT(CAT(0., 5), f);
    o[0] = (int)(LL(0xFF) + LL(1) * 3);
    o[1] = v_a + v_1 + HEX(1F) + HEX(f);
    o[2] = CAT(12, 34) + XCAT(CAT(1, 2), 3) + THREE(1, 2, 3) + THREE(, 2, ) + THREE(, , 7) + THREE(4, , 8);
    o[3] = CAT(, 5) + CAT(5, ) CAT(, );
    o[4] = (int)(CAT(1, u) + CAT(1U, L));
    x CAT(+, =) 3; x CAT(<, <=) 1; CAT(+, +) x; x CAT(-, -); x CAT(^, =) 5;
    o[5] = x; o[6] = x CAT(&, &) 1;
    o[7] = OBJECT + CAT(a, b) + CHOSEN(n);
    o[8] = CALL(one) + CALL(two, 3);
    o[9] = FIELD(p, size) * FIELD(p, base);
    o[10] = fold_xor(a, n); g[2] = fold_plus(f, n);
    o[11] = IN_A_CONDITION; o[12] = sizeof(name);
    for (int i = 0; i < sizeof(name); i++) o[13 + i] = name[i];
    o[60] = 1 -CAT(, -2); o[61] = XCAT(0, XCAT(x, XCAT(1, XCAT(f, XCAT(, 2)))));
}
