#define SIGNED(x) +##x
#define JOINED ( ## 2
#define GOOD(x) x##f
__kernel void k(__global int *a) {
    a[0] = SIGNED(3);
    a[1] = JOINED );
    a[2] = GOOD(0.5);
}
