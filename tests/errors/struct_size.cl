typedef struct { float x, y, z; } Point;
typedef struct { float x, y, z; } __attribute__((aligned(16))) Aligned;
Point moved(Point p) { p.x += 1; return p; }
__kernel void k(__global const Point *restrict in, __global Aligned *restrict a, __global float *restrict out, int n) {
    for (int i = 0; i < n; i++) {
        Point p = in[i];
        Aligned q = a[i];
        out[i] = p.x + q.y + in[i].z + moved(in[n - i]).x;
    }
}
