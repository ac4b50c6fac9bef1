// variables in global memory that the program declares
__local int shared_by_all;
__global int *first;
typedef struct { __global float *data; int n; } view;
__global view views[2];
int table[2] = { 1, 2 };
extern __global int missing;
extern __global int count;
__global long count;
__global int start = 3;
extern __constant int start;
__global int room[get_global_size(0)];
__global int from = start;
__global const int fixed[2] = { 1, 2 };
__global void nothing;
__global long most[1UL << 29], too_many[(1UL << 29) + 1];
__global char filled[1 << 21] = { 1 };
int helper(void) { return ++start; }
__attribute__((autorun, max_global_work_dim(0))) __kernel void always(void) { helper(); }
__kernel void k(__global int *a) {
    __global int inside;
    static __local int both;
    static __global int *pointer;
    table[0] = 1;
    a[0] = missing;
    fixed[1] = 2;
}
