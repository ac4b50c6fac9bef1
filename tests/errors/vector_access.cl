__kernel void k(__global const int *r, __global int *o, __global float4 *v, __constant int *c, float x, int n) {
    vstore4((int4)(1), 0, r);
    vstore4((int4)(1), 0, c);
    vstore4((float4)(1), 0, o);
    vstore4(n, x, o);
    o[0] = vload2(0, v).x;
    o[1] = vload5(0, o);
    o[2] = vload4(o);
    o[3] = vload4(0, n).x;
    vstore2(vload2(1, o));
}
