#define NAMED(a, b) a ## b
#define LL(x) x##LL
__kernel void k(__global int *a) {
    a[1] = NAMED(., x);
    a[3] = LL(0.5);
    a[4] = LL(0xFG);
}
