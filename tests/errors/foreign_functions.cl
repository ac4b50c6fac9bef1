#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int steps;

__kernel void from_cuda(__global int *restrict a, __global float4 *restrict v)
{
    __local int s[64];
    s[get_local_id(0)] = a[get_global_id(0)];
    __syncthreads();
    atomicAdd(&a[0], s[1]);
    atomicCAS(&a[0], 1, 2);
    v[0] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    a[1] = __shfl_down_sync(0xffffffff, a[2], 1);
    a[2] = __popc(a[3]);
    a[3] = __ldg(&a[4]);
}

__kernel void from_c(__global int *restrict a, __global float *restrict x, int n)
{
    assert(n > 0);
    x[0] = sqrtf(x[1]);
    x[1] = __expf(x[2]);
    x[2] = maxf(x[3], x[4]);
    memcpy(a, x, 4);
    a[0] = rand();
    a[1] = omp_get_thread_num();
}

int area(int width, int height) { return width * height; }

__kernel void misspelt(__global int *restrict a, int n)
{
    barier(CLK_LOCAL_MEM_FENCE);
    atomic_ad(&a[0], 1);
    write_chanel_intel(steps, 3);
    barrier();
    a[0] = clamp(n, 1) + area(n);
    a[1] = atomic_cmpxchg(&a[2], 1);
    a[2] = n.x;
    goto end;
}
