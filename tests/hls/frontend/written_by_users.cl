// Language that kernels of other projects use, as their authors write it. Each kernel is (const int *a, int *o, int n), n work for one item.
#define KERNEL(name) __kernel void name(__global const int *restrict a, __global int *restrict o, int n)
#define CAT(a, b) a##b
#define XCAT(a, b) CAT(a, b)
#define F(x) x##f
#define ULL(x) x##UL
#define FOR(i, n) for (int i = 0; i < (n); ++i)
#define SWAP(T, x, y) do { T t_ = (x); (x) = (y); (y) = t_; } while (0)
#define MAX2(x, y) ((x) > (y) ? (x) : (y))
#define MAX3(x, y, z) MAX2(MAX2(x, y), z)
#define STR_(x) #x
#define COUNT_OF(x) (sizeof(x) / sizeof((x)[0]))
typedef unsigned char byte;
typedef struct { union { struct { ushort low, high; }; uint whole; }; byte tag[4]; } word_t;
typedef struct node { int value; struct { short x, y; } at; union { float f; uint bits; } as; } node_t;
typedef enum { RED = 1, GREEN, BLUE = 7 } color_t;
enum { SIZE = 16, MASK = SIZE - 1 };
__constant int primes[] = { 2, 3, 5, 7, 11, 13 };
__constant byte sbox[4][4] = { { 1, 2, 3, 4 }, { [1] = 9, [3] = 8 }, { 0xff }, { 5, 6 } };
__constant node_t origin = { .value = 3, .at = { .y = 4 }, .as.bits = 0x40490fdbu };

static inline int sq(int x) { return x * x; }
inline float lerp(const float x, const float y, float t) { return x + (y - x) * t; }
void minmax(const int x, const int y, int *lo, int *hi) { *lo = min(x, y); *hi = max(x, y); }
int sum_private(const int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
int sum_global(__global const int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
uint rotl(uint x, int k) { return (x << k) | (x >> (32 - k)); }
int after(int x)
{
    if (x < 0) return -1;
    else if (x == 0) return 0;
    return 1 + sq(x) % 7;
}
int old_style(x, y) int x; int y; { return x * 3 + y; }

KERNEL(anonymous_members) { FOR(i, n) { word_t w; w.whole = (uint)a[i] * 2654435761u; w.tag[0] = 1; SWAP(ushort, w.low, w.high); o[i] = (int)w.whole + w.tag[0]; } }
KERNEL(nested_members) { FOR(i, n) { node_t t = origin; t.at.x = (short)a[i]; t.as.f += 1.0f; o[i] = t.at.x * t.at.y + t.value + (int)t.as.bits; } }
KERNEL(pasting) { float x = F(0.5) + F(1.) + F(1e-1); ulong big = ULL(0xFFFFFFFF) + XCAT(0x, 10); o[0] = (int)(x * 10) + (int)(big >> 4); FOR(i, n - 1) o[i + 1] = MAX3(a[i], XCAT(1, 2), -a[i]); }
KERNEL(pointer_as_number) { int t[4] = { 1, 2, 3, 4 }; int *p = t; FOR(i, n) o[i] = ((uint)(p + 1) - (uint)p) + (((ulong)(a + i) & 3) == 0); }
KERNEL(case_in_block) { FOR(i, n) { int r = 0; switch (a[i] & 7) { case 0: { r = 1; } break; case 1: if (a[i] > 20) { case 2: r += 5; } else r -= 1; break; default: r = 9; case 5: r *= 2; } o[i] = r; } }
KERNEL(duff) { int i = 0, k = n & 3, left = (n + 3) / 4; switch (k) { case 0: do { o[i] = a[i] + 1; i++; case 3: o[i] = a[i] + 2; i++; case 2: o[i] = a[i] + 3; i++; case 1: o[i] = a[i] + 4; i++; } while (--left > 0); } }
KERNEL(compound_literal) { FOR(i, n) { int lo, hi; minmax(a[i], *&(int){ 7 }, &lo, &hi); node_t *p = &(node_t){ .value = lo, .at = { 1, 2 } }; o[i] = p->value * 100 + hi + p->at.y; } }
KERNEL(backwards) { FOR(i, n) { int x = a[i] < 0 ? -a[i] : a[i], steps = 0; again: if (x > 1) { x = x & 1 ? 3 * x + 1 : x / 2; if (++steps < 50) goto again; } o[i] = steps; } }
KERNEL(forwards) { FOR(i, n) { int r = 0; FOR(j, 4) FOR(k, 4) { if (j * k > (a[i] & 7)) goto out; r += j + k; } out: o[i] = r; } }
KERNEL(limits) { o[0] = (CHAR_BIT == 8) + (INT_MAX == 0x7fffffff) + (SHRT_MIN == -32768) + (UCHAR_MAX == 255) + (LONG_MAX > 0) + (UINT_MAX == ~0u); FOR(i, n - 1) o[i + 1] = a[i] > SHRT_MAX ? INT_MIN : UCHAR_MAX; }
KERNEL(helpers_of_both) { int t[5]; FOR(i, 5) t[i] = a[i] * i; o[0] = sum_private(t, 5); o[1] = sum_global(a, n); o[2] = sum_private(t + 1, 3); o[3] = old_style(a[0], a[1]); }
KERNEL(enumerated) { color_t c = RED; FOR(i, n) { switch (c) { case RED: c = GREEN; break; case GREEN: c = BLUE; break; case BLUE: default: c = RED; } o[i] = c * SIZE + (i & MASK); } }
KERNEL(tables) { FOR(i, n) o[i] = primes[i % COUNT_OF(primes)] + sbox[i & 3][(i >> 2) & 3] + sizeof(sbox) + (int)sizeof(node_t); }
KERNEL(comma_and_ternary) { int i, j; for (i = 0, j = n - 1; i < n; i++, j--) o[i] = i < j ? a[i] : i > j ? (a[j], -a[j]) : 0; }
KERNEL(assigned_in_condition) { int i = 0, v; while (i < n && (v = a[i]) != 12345) { int w = v; o[i++] = w ^= v >> 1; } }
KERNEL(bits_of_floats) { FOR(i, n) { float f = a[i] * 0.75f; uint u = *(uint *)&f; o[i] = as_int(as_float(u & 0x7fffffffu)) ^ (int)rotl(u, 5); } }
KERNEL(vectors_in_arrays) { int4 v[2]; v[0] = (int4)(a[0], a[1], a[2], a[3]); v[1] = v[0].wzyx + (int4)(1, 2, 3, 4) * 2; ((int *)v)[5] += 100; vstore4(v[1], 0, o); o[4] = v[0].x + v[1].s3; o[5] = any(v[0] > v[1]); }
KERNEL(shadowed) { int x = 1; FOR(i, n) { int x = a[i]; { int x = i; o[i] = x; } o[i] += x; } o[0] += x; }
KERNEL(sentinel) { __global const int *p = a; __global int *q = o; for (; p != a + n; ++p, ++q) *q = *p ? sq(*p) : -1; }
KERNEL(two_dimensions) { int m[4][4], (*row)[4] = m; FOR(i, 4) FOR(j, 4) m[i][j] = a[(i * 4 + j) % n]; FOR(i, 4) FOR(j, i) SWAP(int, m[i][j], m[j][i]); FOR(i, n) o[i] = (*(row + i / 4 % 4))[i % 4]; }
KERNEL(chars) { const char text[] = "Hello, \x41\102\n"; uchar c = 'a' + 1; FOR(i, n) o[i] = i < (int)sizeof(text) ? text[i] : c++; o[0] ^= '\\' + '\''; }
KERNEL(string_of) { __constant char s[] = STR_(n + 1); int k = 0; while (s[k]) k++; o[0] = k; FOR(i, n - 1) o[i + 1] = a[i] / 3 % 5 - (-a[i] >> 1); }
KERNEL(mixed_types) { FOR(i, n) { uchar u = (uchar)a[i]; char s = (char)a[i]; ushort h = -1; long l = (long)a[i] << 33; o[i] = u + s - h + (int)(l >> 31) + (s < u) + (~u >> 1) + (1 ? -1 : 1u) + (h == 0xffff); } }
KERNEL(unrolled) { int acc[4] = { 0 }; int i;
#pragma unroll
    for (i = 0; i < 4; i++) { acc[i] = a[i]; }
#pragma unroll 2
    for (int j = 0; j < n; j++) acc[j & 3] += a[j] * j;
    for (i = 0; i < 4; i++) o[i] = acc[i];
}
KERNEL(returns_early) { if (n < 2) return; FOR(i, n) { if (a[i] == 999) { o[i] = -5; return; } o[i] = after(a[i]) + !a[i] + !!a[i]; } }
KERNEL(volatile_and_register) { register int s = 0; volatile int v = 3; const int k = 2; FOR(i, n) { s += a[i] * v; v = k + (i & 1); } o[0] = s; }
KERNEL(selections) { FOR(i, n) { float x = lerp((float)a[i], 10, .5f); o[i] = (int)select(x, -x, (uint)(a[i] < 0 ? 0x80000000u : 0u)) + convert_int_sat_rte(x * 1e3f) + isgreater(x, 3.0f); } }
KERNEL(packed) { typedef struct __attribute__((packed)) { uchar id; int value; ushort end; } item; item t[2] = { { 1, a[0], 2 }, { .end = 7 } }; t[1].value = t[0].value * 2 + (int)sizeof(item); o[0] = t[1].value + t[1].end + t[1].id; }
KERNEL(assigned_structs) { node_t t[3], u = origin; FOR(i, 3) { t[i] = u; t[i].value += a[i]; u = t[i]; } node_t *p = &t[0]; p++; o[0] = (p + 1)->value + p[-1].value; o[1] = u.at.y; }
KERNEL(loops_without_bodies) { int i; for (i = 0; i < n && a[i] >= 0; i++); o[0] = i; do ; while (++i < n); o[1] = i; for (;;) { if (i-- < 3) break; } o[2] = i; }
KERNEL(in_one_line) { int x = 5, *p = &x, **q = &p; **q += a[0]; *p <<= 2; o[0] = x-- - --x; o[1] = x; int y = (x++, x); o[2] = y; }
KERNEL(long_arithmetic) { ulong h = 14695981039346656037UL; FOR(i, n) { h ^= (uchar)a[i]; h *= 1099511628211UL; o[i] = (int)(h >> 32) ^ (int)h; } }
KERNEL(float_loops) { float x = 0; for (float t = 0.0f; t < 1.0f; t += 0.125f) x += t * a[0]; o[0] = (int)x; double d = 0.1; FOR(i, 3) d = d * 3 + a[i]; o[1] = (int)d; }

// The address of a struct that holds pointers: what a reader, a sink or a table of a C program is called with.
typedef struct { __global const int *p; int n; int pos; } reader_t;
int next(reader_t *r) { int v = r->p[r->pos]; r->pos++; return v; }
void start(reader_t *r, __global const int *p, int n) { r->p = p; r->n = n; r->pos = 0; }
int more(const reader_t *r) { return r->pos < r->n; }
KERNEL(reading) {
  reader_t s;
  start(&s, a, n);
  int k = 0;
  while (more(&s)) o[k++] = next(&s) * 3;
}
typedef struct { int len; int4 last; unsigned char buf[8]; __global int *out; struct { int x; short y[3]; } in; } sink_t;
void put(sink_t *s, int v) {
  s->buf[s->len & 7] = (unsigned char)v;
  s->last = s->last.yzwx; s->last.x = v;
  s->in.y[s->len % 3] += (short)v; s->in.x ^= v;
  s->out[s->len] = v + s->buf[(s->len + 5) & 7];
  s->len++;
}
void fold(int *x, int4 *v, short *y, unsigned char *b) { *x += v->s2 + y[1] + b[3]; y[0] = 5; v->w = 9; }
KERNEL(parts) {
  sink_t s = { 0, (int4)(1, 2, 3, 4), { 1, 2, 3 }, o, { 7, { 1, 2, 3 } } };
  sink_t *p = &s;
  for (int i = 0; i < n - 2; i++) put(p, a[i]);
  fold(&p->in.x, &s.last, s.in.y, s.buf);
  o[n - 2] = s.in.x + s.in.y[0] * 3 + s.in.y[1] + s.in.y[2];
  sink_t t = s; put(&t, 77); put(p, 5);
  o[n - 1] = s.last.w + t.last.x + t.buf[2] + s.len + t.len + sizeof(sink_t) % 8;
}
KERNEL(several) {
  reader_t s[3], *r = s;
  for (int k = 0; k < 3; k++) start(&s[k], a + k, n - k - 1);
  for (int i = 0; i < n; i++) {
    reader_t *q = a[i] & 1 ? &s[1] : a[i] & 2 ? s + 2 : r;
    o[i] = q == &s[1] ? next(q) : next(q) - (int)(q - s);
    if (!more(q)) start(q, a + i % 3, n - 3);
    if (i % 3 == 2) r = s; else r++;
    o[i] += next(r--) * 8; r++;
    if (!more(r)) r->pos = 0;
  }
}
typedef struct { reader_t *in; reader_t other; int turn; } merge_t;
int take(merge_t *m) { reader_t *r = m->turn++ & 1 ? m->in : &m->other; return more(r) ? next(r) : -1; }
reader_t *which(merge_t *m, int k) { return k ? m->in : &m->other; }
KERNEL(nested) {
  reader_t s; merge_t m = { &s };
  start(m.in, a, n); start(which(&m, 0), a + 4, n / 2);
  for (int i = 0; i < n; i++) o[i] = take(&m) + which(&m, i & 1)->pos * 100;
  merge_t c = m; c.in->pos = 3; c.other.pos = 2;
  o[0] += m.in->pos * 10000 + m.other.pos;
}
typedef struct { const int *tab; int n; int acc[4]; } look_t;
int lookup(look_t *l, int k) { l->acc[k & 3] += k; return l->tab[k & 7] + l->acc[0]; }
void swap(look_t *x, look_t *y) { look_t t = *x; *x = *y; *y = t; }
KERNEL(swapped) {
  int t0[8], t1[8];
  for (int k = 0; k < 8; k++) { t0[k] = a[k]; t1[k] = k * k; }
  look_t x = { t0, 8 }, y = { t1, 4 };
  for (int i = 0; i < n; i++) { o[i] = lookup(&x, a[i]) * 7 + lookup(&y, i); if (a[i] & 1) swap(&x, &y); }
}
typedef struct { __global int *p[2]; struct { __global const int *q; int k; } in[2][2]; } grid_t;
int visit(grid_t *g, int i) { g->in[i & 1][i >> 1 & 1].k += i; return g->in[i >> 1 & 1][i & 1].q[i & 3] + g->in[1][0].k; }
KERNEL(grids) {
  grid_t g[2] = {{{ o, o + 1 }}};
  for (int i = 0; i < 8; i++) { g[i >> 2].in[i >> 1 & 1][i & 1].q = a + (i ^ 1); g[i >> 2].p[i & 1] = o + i % 3; }
  for (int i = 0; i < n - 4; i++) *(g[i & 1].p[i >> 1 & 1] + i % (n - 4)) += visit(g + (i & 1), i) + visit(&g[a[i] & 1], i + 1);
}
typedef struct chain { struct chain *next; int v; __global const int *p; } chain_t;
int total(int *x) { return ++*x; }
KERNEL(list) {
  chain_t m = { 0, 5, a };
  o[0] = total(&m.v) + m.p[1]; o[1] = m.v + (m.next == 0);
}
typedef struct state state_t;
typedef struct { state_t *s; int x; } owner_t;
int owns(owner_t w) { return w.x + (w.s != 0); }
int itself(state_t *s) { state_t *t = s; return t == s; }
struct state { __global const int *p; int k; };
int step_of(owner_t *w) { return w->s->p[w->s->k++] + w->x; }
KERNEL(declared_late) {
  state_t s = { a, 0 };
  owner_t w = { &s, 5 };
  FOR(i, n) o[i] = step_of(&w) + owns(w) * 10 + itself(w.s) * 100 + s.k * 1000;
}
int corner(reader_t z[2][3], int k) { return z[k][k + 1].pos + (z[k] + 2)->p[k]; }
KERNEL(rows_of_structs) {
  reader_t z[2][3], (*row)[3] = &z[1], (*last)[3] = z;
  FOR(i, 6) start(&z[i / 3][i % 3], a + i, i);
  FOR(i, n) {
    (*row)[i % 3].pos += i;
    row = a[i] & 1 ? row - 1 : &z[1];
    if (row < z) row++;
    o[i] = (*row)[2].pos + row[0]->p[i & 3] + corner(z, i & 1) + (int)(row - last);
    if (i == 7) { last++; (*last)[1].p = a + 5; }
  }
}
typedef struct { int u, v; } pair_t;
KERNEL(pointers_to_rows) {  // of an array that is divided into its members
  pair_t z[4][3];
  FOR(i, 11) { z[i / 3][i % 3].u = a[i]; z[i / 3][i % 3].v = i; }
  FOR(i, n) o[i] = (*&z[i & 1])[i % 3].u * 3 + (*(&z[1] + (i & 1)))[2].v + (&z[2])[0][1].u;
}
