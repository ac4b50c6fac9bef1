// What a split into a memory part and a compute part gains: one kernel for each kind of loop.

__kernel void merge(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n) {
  int i = 0, j = 0;
  for (int k = 0; k < 2 * n; k++)
    if (j == n || (i < n && a[i] <= b[j]))
      out[k] = a[i++];
    else
      out[k] = b[j++];
}

__kernel void cond_h(__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n) {
  int best = 1 << 30;
  for (int i = 0; i < n; i++)
    if (a[i] < best) best = a[i] + b[i];
  out[0] = best;
}

__kernel void argmax(__global const int *restrict a, __global int *restrict out, int n) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (a[i] > a[best]) best = i;
  out[0] = best;
}

__kernel void least_of(__global const int *restrict a, __global const int *restrict at, __global int *restrict out,
                       int n) {
  int least = 1 << 30;
  for (int i = 0; i < n; i++)
    if (a[at[i]] < least) least = a[at[i]];
  out[0] = least;
}

__kernel void needleman(__global int *restrict table, __global const int *restrict score, int n, int penalty) {
  int above[128], width = n + 1;
  for (int j = 0; j <= n; j++) above[j] = table[j];
  for (int i = 1; i <= n; i++) {
    int left = table[i * width], corner = above[0];
    above[0] = left;
    for (int j = 1; j <= n; j++) {
      int up = above[j];
      left = max(corner + score[i * width + j], max(left, up) - penalty);
      corner = up;
      above[j] = left;
      table[i * width + j] = left;
    }
  }
}

__kernel void rank(__global const int *restrict row, __global const int *restrict column,
                   __global const float *restrict value, __global const float *restrict weight,
                   __global float *restrict out, int n) {
  for (int v = 0; v < n; v++) {
    float sum = 0.0f;
    for (int e = row[v]; e < row[v + 1]; e++) sum += value[column[e]] * weight[column[e]];
    out[v] = 0.15f / n + 0.85f * sum;
  }
}

__kernel void independent(__global const int *restrict row, __global const int *restrict column,
                          __global const int *restrict state, __global const float *restrict value,
                          __global float *restrict least, __global int *restrict again, int n) {
  for (int v = 0; v < n; v++)
    if (state[v] == -1) {
      float m = 1e30f;
      *again = 1;
      for (int e = row[v]; e < row[v + 1]; e++)
        if (state[column[e]] == -1)
          if (value[column[e]] < m) m = value[column[e]];
      least[v] = m;
    }
}

__kernel void floyd(__global int *restrict d, int n, int k) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (d[i * n + k] + d[k * n + j] < d[i * n + j]) d[i * n + j] = d[i * n + k] + d[k * n + j];
}

__kernel void total(__global const int *restrict row, __global const int *restrict column,
                    __global const float *restrict value, __global float *restrict out, int n) {
  float least = 2.0f;
  int many = 0;
  for (int i = 0; i < n; i++)
    for (int e = row[i]; e < row[i + 1]; e++) {
      if (value[column[e]] < least) least = value[column[e]];
      if (value[column[e]] > 0.5f) many++;
    }
  out[0] = least;
  out[1] = many;
}
