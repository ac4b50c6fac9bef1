// pointers that are taken for pointers to another type without a cast: compilers warn
int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
void fill(uint *p, int n) { for (int i = 0; i < n; i++) p[i] = i * 3; }
int bits(int *p) { return *p; }
int low(uchar *p, int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + p[i]; return s; }
typedef struct { int x, y; } Pair;
typedef struct { uint x, y; } Other;

KERNEL {
    uchar t[4] = { 65, 66, 0, 1 }; int q[4]; float r[2] = { 1.5f, -0.25f };
    o[0] = length(t); fill(q, 4); o[1] = q[3];
    __global const uint *u = a; o[2] = u[n] >> 3; o[3] = (u == a) + (q < (uint *)q + 1);
    o[4] = bits(r) + bits(r + 1); o[5] = low(q, 16);
    uint *other = q; other[1] = 0xffffffffu; o[6] = q[1];
    __local int shared[8]; __local uint *w = shared; w[n & 7] = 5; o[7] = shared[n & 7];
    char *c = n > 6 ? t : (char *)t + 1; o[8] = *c;
    __global const short *s = a; o[9] = s[2 * n + 1];
    Pair p = { 3, -4 }; Other *same = &p; same->y >>= 1; o[10] = p.y;
}
