// Iterations until a point of the plane leaves the circle of radius 2: the trip count depends on the data.
#pragma OPENCL FP_CONTRACT OFF

__kernel void mandelbrot(__global int *restrict iterations, int width, int height, float left, float top,
                         float step, int limit)
{
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            float cx = left + step * column;
            float cy = top + step * row;
            float x = 0.0f, y = 0.0f;
            int n = 0;
            while (n < limit && x * x + y * y <= 4.0f) {
                float next = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = next;
                n++;
            }
            iterations[row * width + column] = n;
        }
}
