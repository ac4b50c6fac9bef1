// The loops by which the vendor's guides explain what stops a pipeline, in this project's own words.

__kernel void exit_by_memory(__global const uint *restrict a, __global uint *restrict result)
{
    uint at = 0, total = 0;
    while (a[at++] < 128)
        for (uint k = 0; k < 128; k++)
            total += a[at + k];
    result[0] = total;
}

__kernel void either_loop(__global uint *restrict even, __global uint *restrict odd, int n)
{
    for (uint row = 0; row < n; row++) {
        if ((row & 3) == 0) {
            for (uint k = 0; k < n; k++)
                even[row + k] = row * k;
        } else {
            for (uint k = 0; k < n; k++)
                odd[row + k] = row * k;
        }
    }
}

__kernel void growing_trips(__global const uint *restrict a, __global uint *restrict result, int n)
{
    uint total = 0;
    for (uint row = 0; row < n; row++)
        for (uint k = 0; k < row; k++)
            total += a[row + k];
    result[0] = total;
}

__kernel void one_sum(__global const int *restrict a, __global const int *restrict b, __global int *restrict result)
{
    int total = 0;
    for (uint row = 0; row < 128; row++) {
        for (uint k = 0; k < 128; k++)
            total += a[row * 128 + k];
        total += b[row];
    }
    result[0] = total;
}

__kernel void sum_for_each_row(__global const int *restrict a, __global const int *restrict b,
                               __global int *restrict result)
{
    int total = 0;
    for (uint row = 0; row < 128; row++) {
        int of_row = 0;
        for (uint k = 0; k < 128; k++)
            of_row += a[row * 128 + k];
        total += of_row;
        total += b[row];
    }
    result[0] = total;
}

__kernel void product(__global const float *restrict a, __global float *restrict result)
{
    float factor = 1.0f;
    for (uint k = 0; k < 128; k++)
        factor *= a[k];
    result[0] = factor;
}

__kernel void product_of_eight(__global const float *restrict a, __global float *restrict result)
{
    float copies[8];
    for (uint k = 0; k < 8; k++)
        copies[k] = 1.0f;
    for (uint k = 0; k < 128; k++) {
        float next = copies[7] * a[k];
        #pragma unroll
        for (uint c = 7; c > 0; c--)
            copies[c] = copies[c - 1];
        copies[0] = next;
    }
    float factor = 1.0f;
    #pragma unroll
    for (uint c = 0; c < 8; c++)
        factor *= copies[c];
    result[0] = factor;
}

__kernel void turned_around(__global int *restrict a)
{
    for (uint k = 0; k < 128; k++)
        a[128 - k] = a[k];
}

__kernel void turned_on_chip(__global int *restrict a)
{
    int copy[129];
    for (uint k = 0; k < 129; k++)
        copy[k] = a[k];
    for (uint k = 0; k < 128; k++)
        copy[128 - k] = copy[k];
    for (uint k = 0; k < 129; k++)
        a[k] = copy[k];
}

__kernel void double_sum(__global const double *restrict a, int n, __global double *restrict result)
{
    double total = 0;
    for (int k = 0; k < n; k++)
        total += a[k];
    result[0] = total;
}

__kernel void double_sum_shifted(__global const double *restrict a, int n, __global double *restrict result)
{
    double partial[13];
    for (int k = 0; k < 13; k++)
        partial[k] = 0;
    for (int k = 0; k < n; k++) {
        partial[12] = partial[0] + a[k];
        #pragma unroll
        for (int c = 0; c < 12; c++)
            partial[c] = partial[c + 1];
    }
    double total = 0;
    #pragma unroll
    for (int c = 0; c < 12; c++)
        total += partial[c];
    result[0] = total;
}

__kernel void nine_steps(__global int *restrict result, int n)
{
    int value = n;
    #pragma unroll 9
    for (int k = 0; k < n; k++) {
        value += 1;
        value ^= k;
    }
    result[0] = value;
}

__kernel void nine_steps_at_two(__global int *restrict result, int n)
{
    int value = n;
    #pragma unroll 9
    #pragma ii 2
    for (int k = 0; k < n; k++) {
        value += 1;
        value ^= k;
    }
    result[0] = value;
}

__kernel void nine_steps_at_one(__global int *restrict result, int n)
{
    int value = n;
    #pragma unroll 9
    #pragma ii 1
    for (int k = 0; k < n; k++) {
        value += 1;
        value ^= k;
    }
    result[0] = value;
}

__kernel void shifted_copies(__global int *restrict a, __global int *restrict b, __global const int *restrict x,
                             __global const int *restrict y, int n)
{
    #pragma ivdep
    for (int k = 0; k < n; k++) {
        a[k] = a[k - x[k]];
        b[k] = b[k - y[k]];
    }
}

__kernel void shifted_copies_of_one(__global int *restrict a, __global int *restrict b, __global const int *restrict x,
                                    __global const int *restrict y, int n)
{
    #pragma ivdep array(a)
    for (int k = 0; k < n; k++) {
        a[k] = a[k - x[k]];
        b[k] = b[k - y[k]];
    }
}

__kernel void private_rows(__global const int *restrict a, __global int *restrict out, int n)
{
    for (int row = 0; row < n; row++) {
        int line[64];
        for (int k = 0; k < 64; k++)
            line[k] = a[row * 64 + k];
        int total = 0;
        for (int k = 0; k < 64; k++)
            total += line[k ^ row];
        out[row] = total;
    }
}

__kernel void filter(__global const float *restrict in, __constant float *restrict taps, __global float *restrict out, int n)
{
    float window[32];
    #pragma unroll
    for (int k = 0; k < 32; k++)
        window[k] = 0;
    for (int i = 0; i < n; i++) {
        #pragma unroll
        for (int k = 0; k < 31; k++)
            window[k] = window[k + 1];
        window[31] = in[i];
        float sum = 0;
        #pragma unroll
        for (int k = 0; k < 32; k++)
            sum += window[k] * (float)(k + 1);
        if (i >= 31)
            out[i - 31] = sum * taps[0];
    }
}

__kernel void serial_rows(__global const uint *restrict in, __global uint *restrict out, int n)
{
    uint start[1024], size[1024], last[4];
    for (uint k = 0; k < n; k++)
        start[k] = in[k];
    for (uint row = 1; row < n - 1; row++) {
        uint count = start[row];
        for (uint k = 0; k < count; k++)
            size[k] = start[row + k] - start[row + k - 1];
        for (uint k = 0; k < 4; k++)
            last[k] = size[k];
    }
    #pragma unroll 1
    for (uint k = 0; k < 4; k++)
        out[k] = last[k];
}

__kernel void sums_of_blocks(__global const int *restrict a, __global int *restrict c, int size, int count)
{
    int total[1024];
    for (int block = 0; block < count; block++)
        total[block] = 0;
    for (int block = 0; block < count; block++)
        for (int k = 0; k < size; k++)
            total[block] += a[block * size + k];
    for (int block = 0; block < count; block++)
        c[block] = total[block];
}

__kernel void running_sum(uint n, __global const uint *restrict b, __global uint *restrict c, __global uint *restrict out)
{
    for (uint k = 1; k < n; k++)
        c[k] = c[k - 1] + b[k];
    out[0] = c[n - 1];
}

__kernel void binomial(uint n, uint k, __global uint *restrict result)
{
    uint value = 1, divisor = 1;
    for (uint factor = k; factor <= n; factor++) {
        value *= factor;
        if (divisor <= n - k)
            value /= divisor;
        divisor++;
    }
    result[0] = value;
}

__kernel void mirror(uint n, __global int *restrict out)
{
    for (int k = 1; k < n; k++)
        out[n * 2 - k] = out[k];
}

__kernel void square(__global const float *restrict a, uint n, __global float *restrict out)
{
    for (uint at = 0; at < n * n; at++) {
        float sum = 0;
        int row = at % n;
        for (int k = 0; k < n; k++)
            sum += a[row * n + k] * a[k * n + row];
        out[at] = sum;
    }
}

__kernel void square_on_chip(__global const float *restrict a, uint n, __global float *restrict out)
{
    __local float copy[16];
    for (uint k = 0; k < n * n; k++)
        copy[k] = a[k];
    for (uint at = 0; at < n * n; at++) {
        float sum = 0;
        int row = at % n;
        for (int k = 0; k < n; k++)
            sum += copy[row * n + k] * copy[k * n + row];
        out[at] = sum;
    }
}

__kernel void square_counted(__global const float *restrict a, uint n, __global float *restrict out)
{
    __local float copy[16];
    for (uint k = 0; k < n * n; k++)
        copy[k] = a[k];
    uint row = 0, column = 0;
    for (uint at = 0; at < n * n; at++) {
        float sum = 0;
        if (column == n) {
            column = 0;
            row += 1;
        }
        column += 1;
        for (int k = 0; k < n; k++)
            sum += copy[row * n + k] * copy[k * n + row];
        out[at] = sum;
    }
}

__kernel void square_added(__global const float *restrict a, uint n, __global float *restrict out)
{
    __local float copy[16];
    for (uint k = 0; k < n * n; k++)
        copy[k] = a[k];
    uint along = 0, down = 0, column = 0;
    for (uint at = 0; at < n * n; at++) {
        float sum = 0;
        if (column == n) {
            column = 0;
            along += n;
            down += 1;
        }
        column += 1;
        uint i = along, j = down;
        for (int k = 0; k < n; k++) {
            sum += copy[i] * copy[j];
            i += 1;
            j += n;
        }
        out[at] = sum;
    }
}

__kernel void square_products(__global const float *restrict a, uint n, __global float *restrict out)
{
    __local float copy[16];
    for (uint k = 0; k < n * n; k++)
        copy[k] = a[k];
    uint along = 0, down = 0, column = 0;
    for (uint at = 0; at < n * n; at++) {
        float products[4];
        #pragma unroll
        for (uint k = 0; k < 4; k++)
            products[k] = 0;
        if (column == n) {
            column = 0;
            along += n;
            down += 1;
        }
        column += 1;
        uint i = along, j = down;
        for (int k = 0; k < n; k++) {
            products[k] = copy[i] * copy[j];
            i += 1;
            j += n;
        }
        float sum = products[0];
        #pragma unroll
        for (uint k = 1; k < 4; k++)
            sum += products[k];
        out[at] = sum;
    }
}
