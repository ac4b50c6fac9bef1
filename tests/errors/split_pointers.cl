typedef struct { __global const int *p; int k; } Reader;
typedef struct Node { struct Node *next; __global const int *p; int v; } Node;
int next(Reader *r) { return r->p[r->k++]; }
void renew(Reader **r) { (*r)->k = 0; }
__kernel void k(__global const int *a, __global int *o) {
    Reader r = { a, 0 }, *p = &r;
    Node last = { 0, a, 1 }, first = { &last, a, 2 };
    renew(&p);
    o[0] = next(&last);
    o[1] = *(int *)&r + (long)p;
    void *raw = &r;
    o[2] = &last.v == &first.v;
}
typedef struct late Late;
typedef struct { Late *late; int k; } Holder;
int early(Holder h) { Holder copy = { h.late, 1 }; return copy.k; }
struct late { __global const int *p; };
__kernel void m(__global const int *a, __global int *o) {
    Late l = { a };
    Holder h = { &l, 1 };
    o[0] = early(h);
}
