// Global memory on the chip: a load that waits for the store of an earlier iteration watches the port of that store.

__kernel void counts(__global const int *restrict at, __global int *restrict h, int n)
{
    for (int i = 0; i < n; i++)
        h[at[i]]++;
}

// the compare makes the store conditional
__kernel void least(__global const int *restrict at, __global const int *restrict w, __global int *restrict h, int n)
{
    for (int i = 0; i < n; i++) {
        int v = w[i];
        if (v < h[at[i]])
            h[at[i]] = v;
    }
}

// two loads watch one store
__kernel void relax(__global const int *restrict at, __global const int *restrict w, __global int *restrict h, int n)
{
    for (int i = 0; i < n; i++) {
        int t = at[i], v = h[w[i] & 31] + (t ^ i);
        if (v < h[t])
            h[t] = v;
    }
}

// loads in an inner loop, whose invocations follow one another
__kernel void paths(__global int *restrict h, int n)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++) {
                int t = h[i * 5 + k] + h[k * 5 + j] + n;
                if (t < h[i * 5 + j])
                    h[i * 5 + j] = t;
            }
}

// more than a cycle from the load to the store, so that iterations start every two cycles
__kernel void slow(__global const int *restrict at, __global int *restrict h, int n)
{
    for (int i = 0; i < n; i++) {
        int t = at[i];
        h[t] = ((h[t] * 5 + i) ^ (h[t] >> 3)) + t;
    }
}

// stores of a byte, beside loads of a byte
__kernel void bytes(__global const int *restrict at, __global uchar *restrict h, int n)
{
    for (int i = 0; i < n; i++)
        h[at[i]] += i;
}

// the load is predicated, too
__kernel void sometimes(__global const int *restrict at, __global const int *restrict w, __global int *restrict h, int n)
{
    for (int i = 0; i < n; i++)
        if (w[i] & 1)
            h[at[i]] += w[i];
}

// two stores to the buffer: nothing is forwarded
__kernel void two_stores(__global const int *restrict at, __global int *restrict h, int n)
{
    for (int i = 0; i < n; i++) {
        int v = h[at[i]];
        h[at[i]] = v + 1;
        if (v > 2)
            h[(at[i] + 1) & 31] = i;
    }
}

// the buffer has other stores, in another loop and before this one: they have ended, and only one is watched
__kernel void filled_before(__global const int *restrict at, __global int *restrict h, int n)
{
    for (int i = 0; i < 32; i++)
        h[i] = 90 - i;
    h[n & 31] = -1;
    for (int i = 0; i < n; i++)
        if (h[at[i]] >= 0)
            h[at[i]] -= i;
}

// two elements of one buffer: each load is made whatever the other one says
__kernel void reached(__global const int *restrict at, __global const int *restrict w, __global int *restrict h, int n)
{
    for (int i = 0; i < 32; i++)
        h[i] = -1;
    h[0] = 0;
    for (int i = 0; i < n; i++)
        if (h[at[i]] < 0)
            h[at[i]] = h[w[i] & 31] + 1;
}
