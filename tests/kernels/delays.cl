// Values that wait for many cycles until they are used, in widths from 1 to 64 bits.

// A chain of sums: each product waits for the sum before it. The first ones wait for less than a row of a memory, the last ones for more.
__kernel void chain(__global const float *restrict a, __global float *restrict out, int n)
{
    for (int k = 0; k < n; k++) {
        float sum = a[k];
        #pragma unroll
        for (int t = 1; t < 7; t++)
            sum = sum * 0.75f + a[k + t] * (0.5f + t);
        out[k] = sum;
    }
}

// What is read first is used early, in between and last.
__kernel void several_times(__global const float *restrict a, __global float *restrict out, int n)
{
    for (int k = 0; k < n; k++) {
        float x = a[k];
        float y = x * x + 1.0f;
        float z = y / (x + 3.0f) + x;
        out[k] = z * y + x;
    }
}

// Beside a long calculation: 1, 8, 16 and 64 bits.
__kernel void widths(__global const float *restrict a, __global float *restrict out, int n)
{
    for (int k = 0; k < n; k++) {
        float x = a[k];
        uchar small = (uchar)(k * 7);
        ushort middle = (ushort)(k * 333);
        ulong large = (ulong)k * 0x123456789abul;
        bool odd = x < 1.2f;
        float y = sqrt(x * 0.3f + 0.1f) / (x + 1.5f);
        out[k] = (odd ? y : -y) + small + (float)middle + (float)(uint)(large >> 17);
    }
}

// A second loop is entered while values of the first are still on their way.
__kernel void short_rows(__global const float *restrict a, __global float *restrict out, int n)
{
    for (int row = 0; row < n; row++) {
        float base = a[row], sum = base;
        for (int k = 0; k < (row & 3); k++)
            sum = sum * 0.5f + sqrt(a[row + k] + base) / (base + 2.0f);
        out[row] = sum - base;
    }
}
