void nothing(int x) { }
void takes(void v) { }
__kernel void k(__global int *o, int n) {
    void v;
    void w[3];
    n = nothing(1);
    o[0] = 1 + nothing(2);
    if (nothing(3)) n = 1;
    o[1] = sizeof(void);
    o[2] = (int)nothing(4);
    nothing(nothing(5));
    return 3;
}
