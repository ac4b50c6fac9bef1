__kernel void k(__global float4 *a, __global int *o, int4 v, int n) {
    float4 x = a[0];
    o[0] = x.q;
    o[1] = v.s7;
    o[2] = v;
    if (v) o[3] = 1;
    x.xx = (float2)(1.0f, 2.0f);
    a[1] = x + v;
    a[2] = (float4)(1.0f, 2.0f, 3.0f);
    a[3] = (float4)v;
    v += 1.5f;
    o[4] = min(v, (int2)(1));
    float *p = &x.y;
    o[5] = vload4(0, n);
    v = n > 3 ? v : x;
    o[6] = dot(v, v);
    o[7] = upsample(n, n);
    o[8] = (x + 1).xyzwx.x;
}
