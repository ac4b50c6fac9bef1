// functions in the old style, as CHStone's and older C have them
struct pair { int x, y; };
static int add(a, b) int a, b; { return a + b; }
float scale(x, v, n)
    float x;
    const float v[];
    int n;
{
    float s = 0; int i;
    for (i = 0; i < n; i++) s += v[i] * x;
    return s;
}
int twice(x) int x; { return add(x, x); }
void put(p, c) __global int *p; uchar c; { *p = c; }
int both(a, b) { return a * b; }
int member(s, m) struct pair s; int (*m)[2]; { return s.x + m[1][0]; }
int last(void) { return 42; }

KERNEL {
    float v[3] = { 1, 2, 3 }; struct pair s = { 4, 5 }; int m[2][2] = { 1, 2, 3, 4 };
    o[0] = add(n, 2); o[1] = twice(n); put(o + 2, 300 + n); o[3] = both(n, 3); o[4] = member(s, m) + last();
    g[0] = scale(2.0f, v, 3); o[5] = twice(2.75f);
}
