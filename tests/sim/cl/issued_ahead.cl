// Loops that end late, over buffers of exactly the size that the program needs: loads that were issued ahead of the end are no errors.
__kernel void stop_at_sum(__global const int *restrict a, __global const int *restrict b, __global int *restrict c)
{
    int i = 0, sum = 0;
    do {
        c[i] = a[i] * b[i];
        sum += c[i];
        i++;
    } while (sum < 1000);
}

__kernel void insertion(__global int *a, int n)
{
    for (int i = 1; i < n; i++) {
        int v = a[i], j = i - 1;
        while (j >= 0 && a[j] > v) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = v;
    }
}

// a list in which each element names the next; the last one names itself
__kernel void chase(__global const uint *restrict next, __global uint *restrict steps)
{
    uint at = 0, count = 0;
    while (next[at] != at) {
        at = next[at];
        count++;
    }
    steps[0] = count;
}

__kernel void length(__global const uchar *restrict text, __global uint *restrict found)
{
    uint i = 0;
    while (text[i] != 0) i++;
    found[0] = i;
}

__kernel void digits(__global const uint *restrict keys, __global uint *restrict sorted, __global uint *restrict counts, uint n, uint shift)
{
    for (uint i = 0; i < 16; i++) counts[i] = 0;
    for (uint i = 0; i < n; i++) counts[(keys[i] >> shift) & 15]++;
    uint sum = 0;
    for (uint i = 0; i < 16; i++) {
        uint many = counts[i];
        counts[i] = sum;
        sum += many;
    }
    for (uint i = 0; i < n; i++) sorted[counts[(keys[i] >> shift) & 15]++] = keys[i];
}

// this one really reads what lies behind the end, as the length that the host gives is too large
__kernel void beyond(__global const int *restrict a, __global int *restrict out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) sum += a[i];
    out[0] = sum;
}

// and so does this search, which comes to the end without having found anything
__kernel void unguarded(__global const int *restrict a, __global int *restrict out, int key, int most)
{
    int i = 0;
    while (i < most && a[i] != key) i++;
    out[0] = i;
}
