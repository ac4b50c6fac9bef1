// Three kernels that run concurrently: one reads a signal, one smooths it, one writes the result.

struct sample {
    int value;
    int first;  // of a signal: samples before it belong to another one
};

channel struct sample raw __attribute__((depth(8)));
channel int smooth __attribute__((depth(8)));

__kernel void fetch(__global const int *restrict signal, int n)
{
    for (int i = 0; i < n; i++) {
        struct sample s;
        s.value = signal[i];
        s.first = i == 0;
        write_channel_intel(raw, s);
    }
}

// Autorun: starts by itself and never ends; the host does not launch it.
__attribute__((max_global_work_dim(0)))
__attribute__((autorun))
__kernel void smoother(void)
{
    int last = 0, before = 0;
    while (1) {
        struct sample s = read_channel_intel(raw);
        if (s.first)
            last = before = 0;
        write_channel_intel(smooth, (before + 2 * last + s.value) >> 2);
        before = last;
        last = s.value;
    }
}

__kernel void collect(__global int *restrict result, int n)
{
    for (int i = 0; i < n; i++)
        result[i] = read_channel_intel(smooth);
}
