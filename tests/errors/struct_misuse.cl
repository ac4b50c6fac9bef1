struct Unknown;
struct Pair { int a; float b; };
struct Twice { int a; int a; };
struct Empty { };
struct Bits { int a : 3; };
struct Pair { int c; };
struct Link { struct Link *next; int value; };
struct Self { struct Self inner; };
union Mixed { int n; __global int *p; };
struct Holder { __global int *p; int n; };
struct Flag { bool yes; };
struct __attribute__((aligned(3))) Odd { int a; };
struct __attribute__((shiny)) New { int a; };

__kernel void k(__global struct Pair *p, __global struct Holder *h, struct Holder v) { }
__kernel void m(__global struct Pair *p, __global int *o) {
    struct Unknown u;
    struct Pair s = { 1, 2.0f, 3 };
    struct Pair t = { .c = 1 };
    o[0] = s.z;
    o[1] = p.a;
    o[2] = s;
    s = 3;
    s = p;
    if (s) o[3] = 1;
    s.a[1] = 4;
    o[4] = s + s;
    o.a = 1;
}
