struct Pair { int x, y; }
__kernel void one(__global int *restrict a, int n)
{
    if (n)
        a[0] = 1;
        a[1] = 2;
    else
        a[2] = 3;
    ] a[3] = 4;
    if (n)
        int x = 3;
    }
    a[4] = 5;
    for (int i = 0; i < n; i++)
        a[i] = 6;
}

__kernel void two(__global int *restrict a, int n)
{
    a[0] = 1;
}
}
__kernel void three(__global int *restrict a, int n)
{
    for (int i = 0; i < n; i++) {
        a[i] = 1;
}
