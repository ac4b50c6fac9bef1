__kernel void f(__global int32_t *a, int n) { a[0] = n; }
__kernel void g(__global Vector *a) { a[0].x = 1; }
__kernel void h(__global float *a) {
    uint12_t x = 0;
    int8_t y = 0;
    pair z;
}
