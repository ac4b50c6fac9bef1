struct Pair { int a; float b[2]; };
struct Pair make(int a) { struct Pair p = { a }; return p; }
__kernel void k(__global int *o, __global const int *r, int n) {
    int t[3], u[3];
    t = u;
    n + 1 = 2;
    3 = n;
    r[0] = 1;
    make(1).a = 2;
    n++ ++;
    k = 3;
    (n > 1 ? n : n) = 2;
    o[1] = (int4)(1, 2, 3, 4).x = 3;
    n <<= 1.5f;
    n %= 2.0f;
}
