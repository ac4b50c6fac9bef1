__kernel void k(__global const int *a, __global int *out, __local int *l, int n) {
    int own = 3;
    out[0] = __pipelined_load(l + n);
    out[1] = __pipelined_load(&own);
    out[2] = __prefetching_load(n);
    out[3] = __burst_coalesced_cached_load(a, 0);
    out[4] = __burst_coalesced_cached_load(a, n);
    out[5] = __burst_coalesced_cached_load(a);
    __pipelined_store(a + 1, 4);
    __pipelined_store(out);
}
