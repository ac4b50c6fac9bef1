#pragma OPENCL EXTENSION cl_intel_channels : enable
chanel int steps;
__kernal void one(__gobal int *restrict a, int n)
{
    unsinged int x = 3;
    a[0] = x;
}
HD int two(int x) { return x; }
__kernel void three(__global int *restrict a, int n)
{
    constt int y = 3;
    a[0] = y
    int z = 4;
    a[1] = z;
}
