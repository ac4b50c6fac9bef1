__kernel void row_sums(__global const float *restrict a, __global float *restrict sums, int rows)
{
    for (int r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int c = 0; c < 64; c++)
            sum += a[r * 64 + c];
        sums[r] = sum;
    }
}
