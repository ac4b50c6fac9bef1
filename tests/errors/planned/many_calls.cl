int f0(int x) { return x * 3 + 1; }
#define TWICE(g, f) int g(int x) { return f(x) ^ f(x + 1); }
TWICE(f1, f0) TWICE(f2, f1) TWICE(f3, f2) TWICE(f4, f3) TWICE(f5, f4) TWICE(f6, f5) TWICE(f7, f6) TWICE(f8, f7)
TWICE(f9, f8) TWICE(f10, f9) TWICE(f11, f10) TWICE(f12, f11) TWICE(f13, f12) TWICE(f14, f13) TWICE(f15, f14) TWICE(f16, f15)
__kernel void k(__global int *restrict a)
{
    a[0] = f1(a[1]);
    a[1] = f16(a[2]);
}
