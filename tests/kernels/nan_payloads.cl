// A NaN keeps its bits where it is copied, chosen, stored, or taken for something else. Only arithmetic makes the one quiet NaN.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef struct { float value; int rank; } ranked;

__kernel void copy_float(__global const float *restrict a, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = a[i];
}
__kernel void copy_half(__global const half *restrict a, __global half *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = a[i];
}
__kernel void copy_double(__global const double *restrict a, __global double *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = a[i];
}
__kernel void chosen(__global const float *restrict a, __global const float *restrict b, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = i % 3 ? a[i] : b[n - 1 - i];
}
__kernel void mixed_half(__global const half *restrict a, __global const half *restrict b, __global const half *restrict c, __global half *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = bitselect(a[i], b[i], c[i]);
}
__kernel void mixed_float(__global const float *restrict a, __global const float *restrict b, __global const float *restrict c, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = bitselect(a[i], b[i], c[i]);
}
__kernel void signs(__global const float *restrict a, __global const float *restrict b, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = i & 1 ? -a[i] : i & 2 ? fabs(a[i]) : copysign(a[i], b[i]);
}
__kernel void vectors(__global const float *restrict a, __global float *restrict o, int n)
{
    for (int i = 0; i < n / 4; i++) vstore4(vload4(i, a).s3120, i, o);
}
__kernel void half_vectors(__global const half *restrict a, __global half *restrict o, int n)
{
    for (int i = 0; i < n / 2; i++) vstore2(vload2(i, a).yx, i, o);
}
__kernel void structures(__global const ranked *restrict a, __global ranked *restrict o, int n)
{
    for (int i = 0; i < n; i++) {
        ranked one = a[i];
        one.rank += 1;
        o[n - 1 - i] = one;
    }
}
__kernel void in_memory(__global const float *restrict a, __global float *restrict o, int n)
{
    float t[64];
    for (int i = 0; i < n; i++) t[i * 7 & 63] = a[i];
    for (int i = 0; i < n; i++) o[i] = t[i * 7 & 63];
}
__kernel void carried(__global const float *restrict a, __global float *restrict o, int n)
{
    float last = a[n - 1], before = a[n - 2];
    for (int i = 0; i < n; i++) {
        o[i] = before;
        before = last;
        last = a[i];
    }
}
__kernel void as_bits(__global const float *restrict a, __global uint *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = as_uint(as_float(as_uint(a[i]) ^ 0x10));
}
__kernel void there_and_back(__global const half *restrict a, __global ushort *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = as_ushort(as_half((ushort)(as_ushort(a[i]) ^ 3)));
}
// arithmetic forgets the payload
__kernel void computed(__global const float *restrict a, __global const float *restrict b, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = (i & 3) == 0 ? a[i] + b[i] : (i & 3) == 1 ? a[i] * b[i] : (i & 3) == 2 ? a[i] - b[i] : fma(a[i], b[i], a[i]);
}
__kernel void converted(__global const half *restrict a, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = a[i];
}
__kernel void unchanged(__global const float *restrict a, __global float *restrict o, int n)
{
    for (int i = 0; i < n; i++) o[i] = (i & 3) == 0 ? a[i] * 1.0f : (i & 3) == 1 ? a[i] + -0.0f : (i & 3) == 2 ? a[i] - 0.0f : a[i] / 1.0f;
}
__kernel void in_local(__global const double *restrict a, __global double *restrict o, int n)
{
    __local double t[64];
    for (int i = 0; i < n; i++) t[i * 5 & 63] = a[i];
    for (int i = 0; i < n; i++) o[i] = t[(i + 1) * 5 & 63];
}
__kernel void shuffled(__global const float *restrict a, __global float *restrict o, int n)
{
    for (int i = 0; i < n / 4; i++) {
        float4 v = vload4(i, a);
        vstore4(i & 1 ? shuffle(v, (uint4)(2, 0, 3, 1)) : shuffle2(v.xy, v.zw, (uint4)(3, 2, 1, 0)), i, o);
    }
}
__kernel void double_vectors(__global const double *restrict a, __global double *restrict o, int n)
{
    for (int i = 0; i < n / 2; i++) {
        double2 v = vload2(i, a);
        vstore2(select(v, v.yx, (long2)(-(i & 1))), i, o);
    }
}
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void copied(__global const half *restrict a, __global half *restrict o, int n)
{
    __local half t[64], back[64];
    event_t e = async_work_group_copy(t, a, 64, 0);
    wait_group_events(1, &e);
    for (int i = 0; i < n; i++) back[n - 1 - i] = t[i];
    e = async_work_group_copy(o, back, 64, 0);
    wait_group_events(1, &e);
}
