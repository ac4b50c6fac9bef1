struct Pair { int a; float b; };
__kernel void k(__global int *o, int n) {
    int a[2] = { 1, 2, 3 };
    int b[2] = { [2] = 1 };
    int c[2] = n;
    int d = { 1, 2 };
    int e[] = n;
    int f[];
    int g[] = { };
    struct Pair p = { .a = 1, .a.x = 2 };
    struct Pair q = { { 1 }, o };
    float4 v = { 1, 2, 3, 4, 5 };
    int h[2][] = { { 1 }, { 2 } };
    o[0] = a[0];
}
