int f(int **p) { return **p; }
int g(b) int c; { return b; }
__kernel void k(__global int *a, __global uint *b) {
    uint x = 1, *u = &x;
    a[0] = f(&u);
    a[1] = a - b;
}
