// A shift register of 6,300 elements that moves by more places than a circular buffer follows, and is read anywhere.
__kernel void k(__global const int *restrict a, __global int *restrict o, int n, int d) {
    int taps[6300];
    for (int t = 0; t < n; t++) {
#pragma unroll
        for (int i = 0; i < 6284; i++)
            taps[i] = taps[i + 16];
        taps[6299] = a[t];
        o[t] = taps[d];
    }
}
