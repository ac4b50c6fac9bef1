// structs and unions whose members count as those of the one around them
typedef struct {
    int kind;
    union { float real; int whole; uchar bytes[4]; struct { ushort low, high; }; };
    struct { short x; struct { char y, z; }; };
} Value;
typedef union { struct { float x, y, z, w; }; float v[4]; struct { float2 lo, hi; } half_of; float4 all; } Point;
struct Node { int id; union { struct { int left, right; }; int child[2]; long both; }; enum { LEAF, INNER } shape; };
typedef struct { enum { RED = 3, BLUE }; union { int n; float r; } const; int c; } Mixed;
__constant Value table[2] = { { 1, { 2.5f }, { 3, { 4, 5 } } }, { .kind = 9, .whole = 7, .x = 1, .z = 6 } };

int sum(struct Node n) { return n.left * 3 + n.right; }
float size(const Point *p) { float s = 0; for (int i = 0; i < 4; i++) s += p->v[i] * p->v[i]; return s; }

KERNEL {
    Value a0 = { 1, { 1.5f }, { 2, { 3, 4 } } }, b = { .kind = 2, .whole = 0x01020304, .y = 5 }, c = a0;
    o[0] = a0.whole; o[1] = a0.x + a0.y * 10 + a0.z * 100; o[2] = b.bytes[n & 3]; o[3] = b.low + 7 * b.high; o[4] = b.x + b.y + b.z;
    c.high = 0x4000; g[0] = c.real; c.bytes[2] = 1; o[5] = c.whole;
    Point p = { .x = 1, .y = 2, .w = f[1] }, q = { { 1, 2, 3, 4 } }, r = { .v = { 4, 3, [3] = 9 } }, s = { .half_of.hi = (float2)(5, 6), .half_of.lo = (float2)(1, 2) };
    g[1] = size(&p) + q.v[n & 3]; g[2] = r.x + r.w + r.all.y; g[3] = s.w + s.x; q.all = q.all * 2; g[4] = q.y; q.v[n & 3] = -1; g[5] = q.x + q.all.s1 + q.half_of.hi.y;
    struct Node nodes[3] = { { 5, { { 6, 7 } }, INNER }, [2].left = 8, 9, [1] = { .child[1] = 4, .shape = INNER } };
    o[6] = sum(nodes[0]); o[7] = sum(nodes[2]) + nodes[2].shape; o[8] = nodes[1].right + nodes[1].id + nodes[n & 1].child[n & 1];
    nodes[n & 1].both = 0x500000003L; o[9] = nodes[n & 1].left + nodes[n & 1].right * 2;
    Mixed m = { { .r = 1.0f }, BLUE }; o[10] = m.n + m.c;
    o[11] = sizeof(Value) * 100 + sizeof(Point) + sizeof(struct Node) * 10000;
    o[12] = table[n & 1].bytes[0] + table[1].z + table[0].z + table[1].x; g[6] = table[0].real;
    int w = n; struct { int first; struct { int second, third; }; } t = { 1, 2, 3 }; o[13] = t.first + t.second * 10 + t.third * w;
}
