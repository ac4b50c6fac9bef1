typedef struct { int a; bool on; float4 v; short c[3]; } Cell;
typedef union { float f; uint u; uchar b[4]; } Bits;
static inline float total(Cell c) { float s = 0; for (int i = 0; i < 4; i++) s += c.v[i]; return c.on ? s : -s; }
__kernel void cells(__global Cell *restrict in, __global float *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        Cell c = in[i]; c.v.xy *= 2.0f; c.c[i % 3] += c.a;
        Bits b; b.f = total(c); b.u ^= 0x80000000u; out[i] = b.f + c.c[1] + b.b[0];
    }
}
