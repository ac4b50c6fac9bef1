__kernel void chase(__global const int *restrict next, __global int *restrict out, int start)
{
    int at = start, steps = 0;
    while (next[at] != at) {
        at = next[at];
        steps++;
    }
    *out = steps;
}
