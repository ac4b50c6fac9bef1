/* Indices that an iteration moves on by what it loads there: merges of sorted lists, skips, searches from both ends.
   Buffers have 96 elements, `n` is at most 40. */
#define ARGS __global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n

__kernel void merge(ARGS)
{
  int i = 0, j = 0;
  for (int k = 0; k < 2 * n; k++) {
    if (j >= n || (i < n && a[i] <= b[j]))
      out[k] = a[i++];
    else
      out[k] = b[j++];
  }
}

__kernel void skip(ARGS)
{
  int i = 0;
  for (int k = 0; k < n; k++) {
    out[k] = i;
    if (a[i] * b[i] > 0)
      i += 2;
    else
      i++;
  }
}

__kernel void even_skip(ARGS)
{
  int i = 1;
  for (int k = 0; k < n; k++) {
    out[k] = a[i] - b[k];
    i = a[i] & 1 ? i + 2 : i;
  }
  out[n] = i;
}

__kernel void two_ends(ARGS)
{
  int low = 0, high = n - 1;
  for (int k = 0; k < n; k++)
    if (a[low] < b[high])
      out[k] = a[low++];
    else
      out[k] = b[high--];
}

__kernel void common(ARGS)
{
  int i = 0, j = 0, found = 0;
  while (i < n && j < n) {
    int x = a[i], y = b[j];
    if (x == y)
      out[found++] = x;
    if (x <= y)
      i++;
    if (y <= x)
      j++;
  }
  out[95] = found;
}

__kernel void entered_often(ARGS)
{
  for (int r = 0; r < 4; r++) {
    int i = r;
    for (int k = 0; k < n; k++) {
      out[r * 16 + k % 16] = a[i] + r;
      i += a[i] > b[r];
    }
  }
}

__kernel void passes(__global int *restrict a, __global int *restrict b, __global int *restrict out, int n)
{
  __global int *from = a, *to = b;
  for (int width = 1; width < n; width *= 2) {
    for (int low = 0; low < n; low += 2 * width) {
      int middle = min(low + width, n), high = min(low + 2 * width, n), i = low, j = middle;
      for (int k = low; k < high; k++)
        if (i < middle && (j >= high || from[i] <= from[j]))
          to[k] = from[i++];
        else
          to[k] = from[j++];
    }
    __global int *t = from;
    from = to;
    to = t;
  }
  out[0] = from[0];
}
