// Finite impulse response filter: the last TAPS samples stay in a shift register, so each one is read once.
// TAPS (up to 64) is the filter's length, UNROLL the number of taps computed in parallel, T the sample type.
#ifndef TAPS
#define TAPS 32
#endif
#ifndef UNROLL
#define UNROLL TAPS
#endif
#ifndef T
#define T int
#endif

__constant T coefficient[64] = {
     3,  -7,  12,   5, -21,  33,   8, -44,  61,  -2, -75,  90,  17, -102, 118, 127,
   127, 118, -102, 17,  90, -75,  -2,  61, -44,   8,  33, -21,   5,  12,  -7,   3,
    -1,   4,  -6,  11, -13,  19, -22,  27, -31,  36, -40,  45, -49,  54, -58,  63,
    63, -58,  54, -49,  45, -40,  36, -31,  27, -22,  19, -13,  11,  -6,   4,  -1};

__kernel void fir(__global const T *restrict samples, __global T *restrict filtered, int n)
{
    T window[TAPS];
    #pragma unroll
    for (int t = 0; t < TAPS; t++)
        window[t] = 0;

    for (int i = 0; i < n; i++) {
        #pragma unroll
        for (int t = TAPS - 1; t > 0; t--)
            window[t] = window[t - 1];
        window[0] = samples[i];

        T sum = 0;
        #pragma unroll UNROLL
        for (int t = 0; t < TAPS; t++)
            sum += window[t] * coefficient[t];
        filtered[i] = sum;
    }
}
