typedef __global int *Pointer;
int *wrong(int *p) { return p; }
__kernel void k(__global int *a, __global int **b, __global void *v, Pointer c, int n) {
    __global int *many[4];
    __global int *p = a, **pp = &p;
    v++;
    *v = 1;
    n = v[0];
    int *q = &3;
    q = &(n + 1);
    q = a;
    __global float *f = a;
    p = n;
    p *= 2;
    p += 1.5f;
    n = *n;
    n = -p;
    n = p + a;
    (&n) = q;
    void (*call)(int) = 0;
}
