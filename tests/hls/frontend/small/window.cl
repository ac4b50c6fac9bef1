#define TAPS 5
__attribute__((max_global_work_dim(0)))
__kernel void filter(__global const float *restrict x, __global float *restrict y, int n) {
    float window[TAPS];
    const float weight[TAPS] = { 0.5f, 0.25f, 0.125f, 0.0625f, 0.03125f };
    #pragma unroll
    for (int k = 0; k < TAPS; k++) window[k] = 0.0f;
    #pragma ivdep array(y) safelen(8)
    for (int i = 0; i < n; i++) {
        #pragma unroll
        for (int k = TAPS - 1; k > 0; k--) window[k] = window[k - 1];
        window[0] = x[i];
        float s = 0;
        #pragma unroll
        for (int k = 0; k < TAPS; k++) s = mad(window[k], weight[k], s);
        if (s > 1e6f) continue;
        if (i > 1000 && s < 0) break;
        y[i] = sqrt(fabs(s)) + y[i / 2];
    }
}
