__kernel void scale(__global int *restrict a)
{
    a[threadIdx.x] = blockIdx.x;
    __syncthreads();
}
