// Filters, transforms and codes of signals.

__kernel void fir(__global const int *restrict x, __constant int *taps, __global int *restrict y, int n)
{
    for (int i = 15; i < n; i++) {
        int sum = 0;
        for (int k = 0; k < 16; k++)
            sum += taps[k] * x[i - k];
        y[i] = sum;
    }
}

__kernel void iir(__global const float *restrict x, __global float *restrict y, float a1, float a2, float b0, float b1, float b2, int n)
{
    float x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int i = 0; i < n; i++) {
        float now = b0 * x[i] + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
        x2 = x1;
        x1 = x[i];
        y2 = y1;
        y1 = now;
        y[i] = now;
    }
}

__kernel void fft(__global float *restrict re, __global float *restrict im, __global const float *restrict wr,
                  __global const float *restrict wi, int n)
{
    for (int span = n / 2, stride = 1; span > 0; span >>= 1, stride <<= 1)
        for (int start = 0; start < n; start += 2 * span)
            for (int k = 0; k < span; k++) {
                int even = start + k, odd = start + k + span;
                float sr = re[even] + re[odd], si = im[even] + im[odd];
                float dr = re[even] - re[odd], di = im[even] - im[odd];
                float cr = wr[k * stride], ci = wi[k * stride];
                re[even] = sr;
                im[even] = si;
                re[odd] = dr * cr - di * ci;
                im[odd] = dr * ci + di * cr;
            }
}

__constant int step_of[16] = {7, 9, 11, 13, 16, 19, 23, 28, 34, 41, 50, 60, 73, 88, 107, 130};
__constant int move_of[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

__kernel void adpcm(__global const short *restrict in, __global uchar *restrict out, int n)
{
    int predicted = 0, index = 0;
    for (int i = 0; i < n; i++) {
        int step = step_of[index];
        int difference = in[i] - predicted;
        int code = 0;
        if (difference < 0) {
            code = 8;
            difference = -difference;
        }
        int change = step >> 3;
        if (difference >= step) {
            code |= 4;
            difference -= step;
            change += step;
        }
        step >>= 1;
        if (difference >= step) {
            code |= 2;
            difference -= step;
            change += step;
        }
        step >>= 1;
        if (difference >= step) {
            code |= 1;
            change += step;
        }
        predicted += code & 8 ? -change : change;
        if (predicted > 32767)
            predicted = 32767;
        if (predicted < -32768)
            predicted = -32768;
        index += move_of[code & 7];
        if (index < 0)
            index = 0;
        if (index > 15)
            index = 15;
        out[i] = code;
    }
}

__kernel void dct(__global const int *restrict in, __constant int *basis, __global int *restrict out, int blocks)
{
    for (int b = 0; b < blocks; b++) {
        int rows[64];
        for (int y = 0; y < 8; y++)
            for (int u = 0; u < 8; u++) {
                int sum = 0;
                for (int x = 0; x < 8; x++)
                    sum += in[b * 64 + y * 8 + x] * basis[u * 8 + x];
                rows[y * 8 + u] = sum >> 8;
            }
        for (int u = 0; u < 8; u++)
            for (int v = 0; v < 8; v++) {
                int sum = 0;
                for (int y = 0; y < 8; y++)
                    sum += rows[y * 8 + u] * basis[v * 8 + y];
                out[b * 64 + v * 8 + u] = sum >> 8;
            }
    }
}

__kernel void histogram(__global const uchar *restrict in, __global int *restrict count, int n)
{
    for (int i = 0; i < n; i++)
        count[in[i]]++;
}
