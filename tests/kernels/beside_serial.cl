// loops of which a part goes from one iteration to the next through an inner loop, and the rest does not

// arithmetic that does not depend on the inner loop, and what is added to its result
__kernel void quotients(__global const int *restrict in, __global const int *restrict q, __global int *restrict out, int n) {
    int o = 0, run = 0;
    for (int i = 0; i < n; i++) {
        int v = in[i] / q[i];
        while (run > 3) { out[o++] = -1; run -= 4; }
        if (v > 40) out[o++] = v;
        run += v & 1;
    }
    out[o] = -2;
}

// arithmetic that only uses what the inner loop leaves
__kernel void behind(__global const int *restrict in, __global float *restrict out, int n) {
    int run = 1;
    for (int i = 0; i < n; i++) {
        int v = in[i];
        while (run > 20) run -= 7;
        out[i] = sqrt((float)(run * run)) / (v | 1);
        run += v & 15;
    }
}

// two loads one after the other before it, in a nest
__kernel void lookups(__global const int *restrict in, __global const int *restrict at, __global int *restrict out, int n) {
    for (int k = 0; k < 3; k++) {
        int state = k;
        for (int i = 0; i < n; i++) {
            int v = in[at[i] & 63] * in[at[i] & 31];
            int steps = 0;
            while (state & 6 && steps < 9) { state = state * 5 + 3 & 1023; steps++; }
            state += v;
            out[k * n + i] = steps + state;
        }
    }
}

// run lengths and values, of which zeros are skipped
__kernel void runs(__global const int *restrict in, __global const int *restrict q, __global int *restrict out, int n) {
    int o = 0;
    for (int b = 0; b < 3; b++) {
        int run = 0;
        for (int k = 0; k < n; k++) {
            int v = (in[b * n + k] & 15) * q[k] >> 3;
            if (v == 0) { run++; continue; }
            while (run > 5) { out[o++] = 99; run -= 6; }
            out[o++] = run << 16 | v;
            run = 0;
        }
    }
    out[o] = -1;
}

// whether the loop goes on depends on the inner loop: nothing can run ahead
__kernel void until(__global const int *restrict in, __global int *restrict out, int n) {
    int run = 0, i = 0;
    while (i < n && run < 1000) {
        int v = in[i] / 3;
        while (run & 12) run = run * 3 + 1;
        run += v & 63;
        out[i++] = run;
    }
}
