__kernel void one(__global int *restrict a, int n)
{
    for (int i = 0; i < n; i++) {
        a[i] = 1;
}

__kernel void two(__global int *restrict a, int n)
{
    a[0] = n;
}

__kernel void three(__global int *restrict a, int n)
{
    a[0] = n;
}
