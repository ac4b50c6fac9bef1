/* Sweeps over buffers of a few hundred elements, in place and from one to another. */
#define ARGS __global int *restrict a, __global int *restrict b, int n, int m

__kernel void in_place(ARGS) {
  for (int t = 0; t < m; t++)
    for (int i = 0; i < n; i++) a[i] = a[i] * 3 + t;
}

__kernel void downwards(ARGS) {
  for (int t = 0; t < m; t++)
    for (int i = n - 1; i >= 0; i--) a[i] = a[i] * 3 + t;
}

__kernel void bytes_in_place(__global uchar *restrict a, int n, int m) {
  for (int t = 0; t < m; t++)
    for (int i = 0; i < n; i++) a[i] = a[i] * 3 + t;
}

__kernel void to_and_fro(ARGS) {  // either half is read in one sweep and written in the next
  __global int *from = a, *to = a + n;
  for (int t = 0; t < m; t++) {
    for (int i = 1; i < n - 1; i++) to[i] = (from[i - 1] + from[i + 1]) / 2;
    __global int *both = from;
    from = to;
    to = both;
  }
}

__kernel void prefix(ARGS) {  // sums over twice as many each time
  for (int t = 1; t < n; t <<= 1)
    for (int i = n - 1; i >= t; i--) a[i] += a[i - t];
}

__kernel void bubbles(ARGS) {
  for (int t = 0; t < m; t++)
    for (int i = 0; i + 1 < n - t; i++)
      if (a[i] > a[i + 1]) {
        int x = a[i];
        a[i] = a[i + 1];
        a[i + 1] = x;
      }
}

__kernel void merged(ARGS) {
  __global int *x = a, *y = b;
  for (int w = 1; w < n; w *= 2) {
    for (int low = 0; low < n; low += 2 * w) {
      int middle = min(low + w, n), high = min(low + 2 * w, n), i = low, j = middle;
      for (int k = low; k < high; k++)
        if (i < middle && (j >= high || x[i] <= x[j])) y[k] = x[i++];
        else y[k] = x[j++];
    }
    __global int *t = x;
    x = y;
    y = t;
  }
  x[n] = m;
}

__kernel void copied(ARGS) {
  for (int i = 0; i < n; i++) b[i] = a[i] * m;
}

__kernel void sums_of_rows(ARGS) {
  for (int y = 0; y < m; y++) {
    int sum = 0;
    for (int x = 0; x < n; x++) sum += a[y * 17 + x];
    b[y] = sum;
  }
}

__kernel void part_of_rows(ARGS) {
  for (int y = 0; y < m; y++)
    for (int x = y + 3; x <= n; x += 2) b[y * 7 + x] += ((__global short *)a)[x] + y;
}

__kernel void shifted(__global int *a, __global int *b, int n, int m) {  // of buffers that may overlap
  for (int i = 0; i < n; i++) b[i] = a[i + 3] * m;
}

__kernel void items_shifted(__global int *a, __global int *b, int n, int m) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i + 3] * m;
}

// Two sweeps over rows, each a recurrence: a pass begins when the one before has ended, and within it rows take turns.
__kernel void filtered_rows(__global int *restrict a, __global int *restrict b, int n, int m)
{
    int rows = n < 50 ? n : 50;
    for (int t = 0; t < m; t++) {
        for (int i = 0; i < rows; i++) {
            int last = t;
            for (int j = 0; j < 32; j++) {
                last = a[i * 32 + j] + last * m;
                b[i * 32 + j] = last;
            }
        }
        for (int i = 0; i < rows; i++) {
            int last = t;
            for (int j = 31; j >= 0; j--) {
                last = b[i * 32 + j] - last * m;
                a[i * 32 + j] = last;
            }
        }
    }
}

// Nothing lets a pass wait for the one before, so rows must not take turns: those of the next pass, which begin at the
// other end, would be among them.
__kernel void rewritten_rows(__global const int *restrict a, __global int *restrict b, int n, int m)
{
    int rows = n < 50 ? n : 50;
    for (int t = 0; t < m; t++)
        for (int i = 0; i < rows; i++) {
            int last = t;
            for (int j = 0; j < 32; j++) {
                last = a[i * 32 + j] + last * m;
                b[i * 32 + (t & 1 ? 31 - j : j)] = last;
            }
        }
}
