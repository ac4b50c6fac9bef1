struct Pair { int a; float b; };
__kernel void k(__global int *o, __global struct Pair *p, int n) {
    p[0] = (struct Pair){ 1, 2, 3 };
    p[1] = (struct Pair){ .c = 1 };
    o[1] = (int){ 1, 2 };
    o[2] = ((float4){ 1, 2, 3, 4, 5 }).x;
    p[2] = (struct Missing){ 1 };
    o[3] = ((struct Pair){ 1 }).z;
    o[4] = (void){ 1 };
}
