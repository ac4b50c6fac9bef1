__kernel void shift(__global int *a, __global int *b, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] + 1;
}
