// Steps of the Collatz sequence from each start down to 1, as a loop nest and as work-items.

__kernel void collatz(__global const uint *restrict start, __global uint *restrict steps, int n)
{
    for (int i = 0; i < n; i++) {
        uint value = start[i];
        uint count = 0;
        while (value > 1) {
            value = (value & 1) ? 3 * value + 1 : value >> 1;
            count++;
        }
        steps[i] = count;
    }
}

__kernel void collatz_ndrange(__global const uint *restrict start, __global uint *restrict steps)
{
    int i = get_global_id(0);
    uint value = start[i];
    uint count = 0;
    while (value > 1) {
        value = (value & 1) ? 3 * value + 1 : value >> 1;
        count++;
    }
    steps[i] = count;
}
