// c = a + b with 1, 2, 4, 8 or 16 SIMD lanes.

#define ADD(LANES) \
    __attribute__((num_simd_work_items(LANES))) \
    __kernel void add_##LANES(__global const float *restrict a, __global const float *restrict b, __global float *restrict c) \
    { \
        int i = get_global_id(0); \
        c[i] = a[i] + b[i]; \
    }

ADD(1)
ADD(2)
ADD(4)
ADD(8)
ADD(16)
