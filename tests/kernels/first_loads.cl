// The element that the first iteration loads is loaded before the loop, and carried from there on.

__kernel void longest(__global const uchar *restrict a, __global const uchar *restrict b, __global int *restrict o, int n) {
    int row[65];
    for (int j = 0; j <= n; j++)
        row[j] = 0;
    for (int i = 0; i < n; i++) {
        int corner = 0;
        for (int j = 0; j < n; j++) {
            int above = row[j + 1];
            if (a[i] == b[j])
                row[j + 1] = corner + 1;
            else if (row[j] > above)
                row[j + 1] = row[j];
            corner = above;
        }
    }
    for (int j = 0; j <= n; j++)
        o[j] = row[j];
}

__kernel void relaxed(__global const uchar *restrict a, __global const uchar *restrict b, __global int *restrict o, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            o[j + 1] = max(o[j] - a[i], (int)b[j]);
}
