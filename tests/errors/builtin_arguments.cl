__kernel void k(__global int *o, __global float *f, float x, int n, short s, bool b) {
    o[0] = abs(x);
    o[1] = clz(x);
    o[2] = select(1, 2, x);
    o[3] = as_int(s);
    o[4] = as_char(b);
    o[5] = min(o, n);
    o[6] = clamp(n, 1);
    o[7] = mul24(n, 1L);
    f[0] = fabs(f);
    f[1] = dot(x, n);
    o[8] = popcount();
    o[9] = any(x);
    o[10] = shuffle(n, n);
    o[11] = get_global_id(n + 1);
    o[12] = cross((float3)(1), (float4)(1)).x;
    o[13] = length(n);
}
