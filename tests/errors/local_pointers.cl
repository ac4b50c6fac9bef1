struct S { __global int *p; int n; };
__kernel void k(__global int *a, __global int *__local x, __global int n)
{
    __local struct S s[2];
    int *__local mine[2];
    __local int z = 3;
    __global int *__local w = 0;
    __global int *y = (__global int *__local)a;
    struct T { __global int *__local p; } t;
    a[0] = n;
}
__global int *__local f(__global int *p) { return p; }
