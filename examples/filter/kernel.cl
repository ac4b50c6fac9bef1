// 3 x 3 convolution as three kernels: pixels are read once, wait in two line buffers, and another kernel writes the result.
#pragma OPENCL FP_CONTRACT OFF

#ifndef WIDTH
#define WIDTH 128
#endif
#define WINDOW (2 * WIDTH + 3)

channel float pixels __attribute__((depth(8)));
channel float filtered __attribute__((depth(8)));

__constant float weight[3][3] = {
    {0.0625f, 0.125f, 0.0625f},
    {0.125f, 0.25f, 0.125f},
    {0.0625f, 0.125f, 0.0625f}};

__kernel void fetch_pixels(__global const float *restrict image, int count)
{
    for (int i = 0; i < count; i++)
        write_channel_intel(pixels, image[i]);
}

__kernel void convolve(int height)
{
    float window[WINDOW];
    #pragma unroll
    for (int i = 0; i < WINDOW; i++)
        window[i] = 0.0f;
    int x = -WIDTH - 1, y = 0;  // of the pixel in the middle of the window
    for (int i = 0; i < WIDTH * height + WIDTH + 1; i++) {
        #pragma unroll
        for (int k = WINDOW - 1; k > 0; k--)
            window[k] = window[k - 1];
        window[0] = i < WIDTH * height ? read_channel_intel(pixels) : 0.0f;
        float sum = 0.0f;
        #pragma unroll
        for (int dy = 0; dy < 3; dy++) {
            #pragma unroll
            for (int dx = 0; dx < 3; dx++) {
                bool inside = x + dx >= 1 && x + dx <= WIDTH && y + dy >= 1 && y + dy <= height;
                float pixel = window[(2 - dy) * WIDTH + 2 - dx];
                sum += weight[dy][dx] * (inside ? pixel : 0.0f);
            }
        }
        if (i > WIDTH)
            write_channel_intel(filtered, sum);
        bool last = x == WIDTH - 1;
        x = last ? 0 : x + 1;
        y += last;
    }
}

__kernel void store_pixels(__global float *restrict result, int count)
{
    for (int i = 0; i < count; i++)
        result[i] = read_channel_intel(filtered);
}
