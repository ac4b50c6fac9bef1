__kernel void three(__global int *restrict a, int n)
{
    [[ int x = n;
    a[0] = x;
    [[unroll]] for (int i = 0; i < n; i++)
        a[i] = x;
}

__kernel void four(__global int *restrict a, int n)
{
    a[0] = n
}
