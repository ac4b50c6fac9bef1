// Kernels that wait for buffers in external memory, and work on copies of them on the chip.

__kernel void sorted(__global int *restrict a, int n)
{
    for (int i = 1; i < n; i++) {
        int x = a[i];
        int j = i - 1;
        while (j >= 0 && a[j] > x) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = x;
    }
}

__kernel void reached(__global const ushort *restrict row, __global const uchar *restrict edge, __global char *restrict level,
                      __global short *restrict queue, int source, int nodes)
{
    level[source] = 0;
    queue[0] = source;
    int head = 0, tail = 1;
    while (head < tail) {
        int v = queue[head++];
        for (int e = row[v]; e < row[v + 1]; e++) {
            int w = edge[e];
            if (level[w] < 0) {
                level[w] = level[v] + 1;
                queue[tail++] = w;
            }
        }
    }
}

__kernel void followed(__global const uchar *restrict next, __global uchar *restrict out, int n)
{
    int last[4];
    for (int k = 0; k < 4; k++)
        last[k] = k;
    int i = 0;
    for (int k = 0; k < n; k++) {
        i = next[i];
        out[k] = i + last[k & 3];
        last[(i + k) & 3] = i;
    }
}

__kernel void matched(__global const uchar *restrict from, __global const uchar *restrict to, __global short *restrict mate, int edges)
{
    for (int e = 0; e < edges; e++) {
        int u = from[e], v = to[e];
        if (mate[u] < 0 && mate[v] < 0) {
            mate[u] = v;
            mate[v] = u;
        }
    }
}

__kernel void merged(__global const int *restrict a, __global int *restrict b, int n)
{
    int i = 0, j = n / 2;
    for (int r = 0; r < 4; r++) {
        i = r;
        j = n / 2;
        for (int k = 0; k < n - 1 - r; k++) {
            int take = j >= n || (i < n / 2 && a[i] <= a[j]);
            b[k] = take ? a[i++] : a[j++];
        }
    }
}

// by columns where the triangle is on the chip
__kernel void solved(__global const float *restrict l, __global float *restrict x, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            x[i] -= l[i * n + j] * x[j];
        x[i] = x[i] * 0.75f + l[i * n + i];
    }
}

__kernel void decomposed(__global float *restrict a, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] *= a[j * n + j];
        }
}

__kernel void bubbled(__global int *restrict a, int n)
{
    for (int end = n - 1; end > 0; end--)
        for (int i = 0; i < end; i++)
            if (a[i] > a[i + 1]) {
                int t = a[i];
                a[i] = a[i + 1];
                a[i + 1] = t;
            }
}
