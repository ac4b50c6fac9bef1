// Black and white from shades of grey, one byte a pixel.

__kernel void threshold(__global const uchar *restrict image, __global uchar *restrict result, int pixels, uchar level)
{
    for (int i = 0; i < pixels; i++)
        result[i] = image[i] > level ? 255 : 0;
}
