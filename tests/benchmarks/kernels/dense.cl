// Dense linear algebra as its textbooks write it: square matrices of n rows, stored by rows, sums in the order of the text.

__kernel void gemm_ijk(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

__kernel void gemm_ikj(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

__kernel void gemm_kij(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

__kernel void syrk(__global const float *restrict a, __global float *restrict c, float alpha, float beta, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            c[i * n + j] *= beta;
        for (int k = 0; k < n; k++)
            for (int j = 0; j <= i; j++)
                c[i * n + j] += alpha * a[i * n + k] * a[j * n + k];
    }
}

__kernel void atax(__global const float *restrict a, __global const float *restrict x, __global float *restrict y, int n)
{
    for (int j = 0; j < n; j++)
        y[j] = 0;
    for (int i = 0; i < n; i++) {
        float row = 0;
        for (int j = 0; j < n; j++)
            row += a[i * n + j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] += a[i * n + j] * row;
    }
}

__kernel void mvt(__global const float *restrict a, __global float *restrict x1, __global float *restrict x2,
                  __global const float *restrict y1, __global const float *restrict y2, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x1[i] += a[i * n + j] * y1[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x2[i] += a[j * n + i] * y2[j];
}

__kernel void gaussian(__global float *restrict a, __global float *restrict b, int n)
{
    for (int k = 0; k < n - 1; k++)
        for (int i = k + 1; i < n; i++) {
            float factor = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
}

__kernel void trisolv(__global const float *restrict l, __global float *restrict x, __global const float *restrict b, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= l[i * n + j] * x[j];
        x[i] = x[i] / l[i * n + i];
    }
}

__kernel void covariance(__global float *restrict data, __global float *restrict cov, __global float *restrict mean, int n)
{
    for (int j = 0; j < n; j++) {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += data[i * n + j];
        mean[j] = sum / n;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            data[i * n + j] -= mean[j];
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += data[k * n + i] * data[k * n + j];
            cov[i * n + j] = sum;
            cov[j * n + i] = sum;
        }
}
