// addresses of compound literals, and constants of stdint.h, limits.h and stddef.h
#include <stdint.h>
#include <limits.h>
#include <stddef.h>
typedef struct { int x, y; } P;
typedef struct { char tag; P at[3]; union { float v[4]; double d; }; } Deep;
int first(const P *p) { return p->x * 10 + p->y; }
int total(const int *v, int n) { int s = 0; for (int i = 0; i < n; i++) s += v[i]; return s; }
int h(int *p) { *p += 3; return *p; }

KERNEL {
    o[0] = first(&(P){n, 2}); o[1] = first(&(P){.y = n});
    o[2] = total((int[]){n, 2, 3}, 3); o[3] = total((int[4]){n}, 4) + total(&(int[]){n, 5, 6}[1], 2);
    o[4] = h(&(int){n}); P *q = &(P){7, n}; q->x++; o[5] = first(q); o[6] = (P){n, 3}.y + (&(P){4, 5})->x;
    int *w = (int[]){1, 2, n}; w[1] = 9; o[7] = total(w, 3); o[8] = first(n > 6 ? &(P){1, 2} : &(P){3, 4}); o[9] = *&(int){n + 1};
    float *v = &(float){n + 0.5f}; *v *= 2; o[44] = (int)*v;
    for (int i = 0; i < n; i++) { int *z = (int[2]){i}; o[10 + i] = z[0] + z[1]; z[1] = 5; P *r = &(P){i}; r->y += r->x; o[20 + i] = r->y; }
    o[30] = h(&(P){n, 6}.y);
    o[31] = INT32_MAX; o[32] = UINT8_MAX + INT16_MIN + UINT16_MAX; o[33] = (int)(UINT64_MAX >> 40) + (int)(INT64_MIN >> 35); o[34] = SIZE_MAX > UINT32_MAX;
    o[35] = (int)(UINT32_C(5) + INT64_C(0x700000007)); o[36] = INT32_MIN; o[37] = (int)(LLONG_MAX >> 50) + (int)(INT64_MAX >> 60) + INT_LEAST16_MAX;
    int_fast8_t s = 3; uint_least16_t t = 40000; intmax_t u = -5; uintmax_t c = 6; uintptr_t e = 1; o[38] = s + t + u + c + e;
    o[39] = offsetof(P, y) + 10 * offsetof(Deep, at) + 1000 * offsetof(Deep, at[2].y) + 100000 * offsetof(Deep, d);
    o[40] = (int)(size_t)&((Deep *)0)->v; int table[offsetof(P, y)]; o[41] = sizeof(table);
#if INT32_MAX == 2147483647 && UINT16_MAX > 65534
    o[42] = 1;
#endif
}
