__kernel void k(__global int *o, __global float *f, float x, int4 v) {
    o[0] = convert_int_rtx(x);
    f[0] = convert_float_sat(x);
    f[1] = convert_float_rtz(o[0]);
    o[1] = convert_int2(v).x;
    o[2] = as_int(v);
    o[3] = convert_bool(x);
}
