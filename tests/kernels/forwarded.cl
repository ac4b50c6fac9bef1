// What an iteration loads decides where the next one loads: it may begin with the word in the output of the block RAM.

__kernel void walk(__global const ushort *restrict next, __global int *restrict out, int n)
{
    ushort p = 0;
    for (int i = 0; i < n; i++)
        p = next[p & 127];
    out[0] = p;
}

// the initial value is an argument, and the state before is used after it has been replaced
__kernel void automaton(__global const ushort *restrict next, __global int *restrict out, int n)
{
    ushort state = (ushort)n;
    int trace = 0;
    for (int i = 0; i < n; i++) {
        ushort before = state;
        state = next[state & 127];
        trace = trace * 5 + before;
        out[i] = trace;
    }
}

// two chains, of which one takes what the other had, in a level of some stages
__kernel void chains(__global const ushort *restrict next, __global int *restrict out, int n)
{
    ushort p = 3, q = 5;
    for (int i = 0; i < n; i++) {
        ushort t = next[p & 127];
        out[i] = p * (q + 77) * (q ^ p);
        q = next[q & 127];
        p = t;
    }
}

// issued ahead of the end, which a loaded value decides
__kernel void list(__global const ushort *restrict next, __global int *restrict out, int n)
{
    int p = n, d = 0;
    while (p < 60000 && d < n) {
        out[d] = p;
        p = next[p & 127];
        d++;
    }
    out[63] = p;
}

// one invocation after the other, from no iteration to some
__kernel void rows(__global const ushort *restrict next, __global int *restrict out, int n)
{
    ushort p = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < (j * 7 & 3); i++)
            p = next[p & 127];
        out[j] = p;
    }
}

// the register of the sum begins with the constant: the addition needs no choice before it
__kernel void serial_sum(__global const ushort *restrict next, __global int *restrict out, int n)
{
    float sum = 0.5f;
    for (int i = 0; i < n; i++)
        sum += next[i] * 0.37f;
    out[0] = as_int(sum);
}
