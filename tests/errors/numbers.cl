// what begins like a number
__kernel void numbers(__global float *a, __global int *b) {
    a[0] = 1.5.2f;
    b[0] = 0b12;
    b[1] = 1_000;
}
__kernel void others(__global int *b) {
    b[2] = 1uuu;
    b[3] = 5 b[4];
}
