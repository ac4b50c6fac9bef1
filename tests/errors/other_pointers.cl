typedef struct { int x, y; } Pair;
int length(const char *s) { return s[0] != 0; }
float first(__global const float *p) { return *p; }
__kernel void k(__global int *a, __global uchar *b) {
    uint *u, x; int *i, y;
    a[0] = length((char *)&y);
    i = &x;
    a[1] = first(a);
    a[2] = a == b;
    __global Pair *p = a;
    y = x = 1; i = &y; u = &x;
    uchar t[2] = { 0, 1 };
    a[3] = length(t) + *i + *u + p->x;
}
