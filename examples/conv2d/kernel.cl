// 3 x 3 convolution of an image; pixels beyond its border count as zero.
#pragma OPENCL FP_CONTRACT OFF

__constant float weight[3][3] = {
    {0.0625f, 0.125f, 0.0625f},
    {0.125f, 0.25f, 0.125f},
    {0.0625f, 0.125f, 0.0625f}};

__kernel void conv2d(__global const float *restrict image, __global float *restrict result, int width, int height)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float sum = 0.0f;
            #pragma unroll
            for (int dy = 0; dy < 3; dy++) {
                #pragma unroll
                for (int dx = 0; dx < 3; dx++) {
                    int row = y + dy - 1;
                    int column = x + dx - 1;
                    if (row >= 0 && row < height && column >= 0 && column < width)
                        sum += weight[dy][dx] * image[row * width + column];
                }
            }
            result[y * width + x] = sum;
        }
}
