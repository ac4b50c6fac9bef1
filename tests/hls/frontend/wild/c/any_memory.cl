// helpers that are called with pointers to buffers, to local memory and to arrays
int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
void add(int *to, const int *from, int n) { for (int i = 0; i < n; i++) to[i] += from[i]; }
int *after(int *p, int n) { int *q = p + n; return q; }
typedef struct { int x, y; float f; } Cell;
float weight(const Cell *c) { return c->x * 2 + c->f; }
void swap(int *p, int *q) { int t = *p; *p = *q; *q = t; }
void sort(int *v, int n) { for (int i = 1; i < n; i++) for (int j = i; j > 0 && v[j - 1] > v[j]; j--) swap(v + j - 1, v + j); }
int largest(const int *a, const int *b) { const int *p = *a > *b ? a : b; return *p; }

KERNEL {
    int m[8]; __local int l[8]; Cell cells[2] = { { 1, 2, 0.5f }, { 3, 4, 1.5f } };
    for (int i = 0; i < 8; i++) { m[i] = i * n; l[i] = 100 - i; o[i] = a[i]; }
    o[8] = sum(a, n); o[9] = sum(m, n); o[10] = sum(l, n); o[11] = sum(a + 3, 2) + sum(&m[2], 3);
    add(o, m, 4); add(o + 4, l, 4); add(m, a, 8); add(l, m, 8); o[12] = m[n - 1]; o[13] = l[n - 2];
    *after(o, 14) = 5; *after(m, 1) = 6; o[15] = m[1];
    g[0] = weight(cells) + weight(&cells[n & 1]);
    for (int i = 0; i < 8; i++) { o[16 + i] = a[i * 5]; m[i] = a[i * 3]; l[i] = a[i * 7]; }
    sort(o + 16, 8); sort(m, n); sort(l, n); for (int i = 0; i < 8; i++) { o[24 + i] = m[i]; o[32 + i] = l[i]; }
    o[40] = largest(a, m) + largest(m + 1, l) + largest(a, a + 1); swap(o + 41, m); swap(l, m + 1); o[42] = m[0] + l[0] * 3 + m[1] * 5;
    const int *p = n > 6 ? a : m; o[43] = p[2]; int *q = o + 44; *q = 77; if (n > 6) q = m; q[0]++; o[45] = q == m;
}
