// constants whose definitions are elsewhere
extern __constant int nowhere;
extern __constant float other;
extern __constant int table[3];
extern __global int *buffer;
__constant int other = 1;
__constant int table[2] = { 1, 2 };
extern __constant int unused;
__constant char *text = "text";
__kernel void k(__global int *a) {
    extern __constant int inside;
    a[0] = nowhere;
    a[1] = nowhere;
    char *t = "text";
    a[2] = "a" + 1;
}
