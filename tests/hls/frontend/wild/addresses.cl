// pointers as numbers: tests of alignment, distances, null
typedef struct { char c; int v[3]; float4 f; } Cell;
bool aligned(const void *p, uint n) { return ((size_t)p & (n - 1)) == 0; }
int global_aligned(__global const int *p) { return !((ulong)p % 16) + 2 * !((uint)p & 7) + 4 * ((uchar)(uintptr_t)p & 4); }
int copy(__global const int *from, int *to, int n) {
    int i = 0, wide = 0;
    if (!((uintptr_t)from & 15) && !((size_t)to & 7)) for (; i + 4 <= n; i += 4) { vstore4(vload4(0, from + i), 0, to + i); wide++; }
    for (; i < n; i++) to[i] = from[i];
    return wide;
}

KERNEL {
    int m[16] __attribute__((aligned(16))); Cell cells[3]; __local long shared[4];
    o[0] = global_aligned(a) + 10 * global_aligned(a + 1) + 100 * global_aligned(a + n);
    o[1] = copy(a, m, n) + 10 * copy(a + 4, m, n + 3) + 100 * copy(a + 1, m, n); o[2] = m[n - 1];
    o[3] = (int)((size_t)(a + n) - (size_t)a) + (int)((ulong)&cells[2].v[1] - (ulong)&cells[0]);
    o[4] = ((uint)&cells[1].f & 15) + ((uint)&cells[n & 1].v[2] & 15) * 16 + ((uint)cells & 3);
    o[5] = ((size_t)a == (size_t)f) + 2 * ((size_t)a != 0) + 4 * ((ulong)o == (ulong)&o[0]) + 8 * ((long)(shared + 1) > (long)shared);
    __global const int *p = n > 6 ? a + n : 0; o[6] = (size_t)p == 0; o[7] = (bool)p; o[8] = ((ulong)p & 31) >> 2;
    __global const int *q = n & 1 ? a + 3 : o + 2; o[9] = (int)((uintptr_t)q & 15);
    shared[n & 3] = 1; o[10] = ((intptr_t)&shared[n & 3] & 7) + aligned(m, 16) + 2 * aligned(m + 1, 8) + 4 * aligned(&m[4], 16);
    const uchar *bytes = (const uchar *)m; int head = (int)(-(uintptr_t)(bytes + n) & 3); o[11] = head;
}
