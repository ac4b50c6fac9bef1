// pointers that are chosen, kept and moved
void swap(__global int **p, __global int **q) { __global int *t = *p; *p = *q; *q = t; }
__kernel void pick(__global int *restrict a, __global int *restrict b, int n) {
    __global int *both[2] = { a, b };
    __global int *x = a, *y = 0;
    if (n > 3) y = b + 1;
    for (int i = 0; i < n; i++) { both[i & 1][i] = x[i] + (y ? *y++ : 0); if (i & 2) swap(&both[0], &both[1]); }
}
