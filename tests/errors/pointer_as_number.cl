__kernel void k(__global int *a, __global float *b, int n) {
    n = a;
    n = a * 2;
    if (a) n = 1;
    n = (int)a;
    if (a == 0) n = 2;
    n = a < b;
    n = a - b;
}
