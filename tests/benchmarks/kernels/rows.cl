// A recursive filter along the rows of a matrix, forwards and then backwards, in a window whose size is known at run time.

#define WIDTH 40

__kernel void smooth_rows(__global const float (*restrict in)[WIDTH], __global float (*restrict ahead)[WIDTH],
                          __global float (*restrict out)[WIDTH], float weight, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        float last = 0;
        for (int j = 0; j < columns; j++) {
            last = in[i][j] + weight * last;
            ahead[i][j] = last;
        }
    }
    for (int i = 0; i < rows; i++) {
        float last = 0;
        for (int j = columns - 1; j >= 0; j--) {
            last = ahead[i][j] + weight * last;
            out[i][j] = last;
        }
    }
}
