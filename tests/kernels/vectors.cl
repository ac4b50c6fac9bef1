// Vectors and structs: wide accesses, components, unaligned vload, by-value arguments, members.
typedef struct { float x, y; int id; uint flags; } Point;
union Bits { float f; uint u; uchar bytes[4]; };

__kernel void scale4(__global const float4 *restrict a, __global float4 *restrict out, float4 by, int n) {
    for (int i = 0; i < n; i++) {
        float4 v = a[i];
        v.xy += v.wz * 0.5f;
        out[i] = (v * by).s3210;
    }
}

__kernel void unaligned(__global const int *restrict a, __global int *restrict out, int start, int n) {
    for (int i = 0; i < n; i++) {
        int4 v = vload4(i, a + start);
        int8 w = (int8)(v, vload4(0, a + 4 * i));
        vstore4(w.even + w.odd, i, out);
    }
}

__kernel void three(__global const short3 *restrict a, __global short *restrict out, int n) {
    for (int i = 0; i < n; i++) vstore3(a[i] * (short3)(1, 2, 3) - a[i].zxy, i, out);
}

__kernel void points(__global const Point *restrict in, __global Point *restrict out, Point origin, int n) {
    for (int i = 0; i < n; i++) {
        Point p = in[i];
        p.x -= origin.x;
        p.y -= origin.y;
        union Bits b;
        b.f = p.x;
        b.bytes[0] = (uchar)p.id;
        p.flags = b.u ^ (p.id > origin.id ? origin.flags : 0);
        out[i] = p;
    }
}

__kernel void wide(__global const long8 *restrict a, __global uchar16 *restrict out) {
    size_t i = get_global_id(0);
    long8 v = a[i];
    uchar8 low = convert_uchar8_sat(v);
    out[i] = (uchar16)(low, convert_uchar8(v >> 8)) + (uchar)i;
}

// integers of exact widths, in values, arrays, buffers, structs and arguments
#include "ihc_apint.h"
typedef struct { uint10_t a; int5_t b; int37_t c; uint1_t d; } Exact;

__kernel void exact_widths(__global const Exact *restrict in, __global Exact *restrict out, __global uint12_t *restrict small, int n,
                           uint10_t by) {
    int9_t cells[8];
    for (int i = 0; i < 8; i++) cells[i] = i * 83;
    for (int i = 0; i < n; i++) {
        Exact e = in[i], r;
        r.a = e.a * by + cells[e.b & 7];
        r.b = (e.b << 1) - (int5_t)(e.c >> 3);
        r.c = (int37_t)e.a * e.c / (e.b | (int5_t)1);
        r.d = ~e.d;
        out[i] = r;
        small[i] += (uint12_t)r.a << 2;
    }
}
