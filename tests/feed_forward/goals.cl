// Further kernels of the goals of kernels split into parts, beside those of table.cl.

__kernel void needleman_nested(__global int *restrict table, __global const int *restrict score, int n, int penalty) {
  int above[128], width = n + 1;
  for (int j = 0; j <= n; j++) above[j] = table[j];
  for (int i = 1; i <= n; i++) {
    int left = table[i * width], corner = above[0];
    above[0] = left;
    for (int j = 1; j <= n; j++) {
      int up = above[j];
      left = max(corner + score[i * width + j], max(left - penalty, up - penalty));
      corner = up;
      above[j] = left;
      table[i * width + j] = left;
    }
  }
}

__kernel void needleman_apart(__global int *restrict table, __global const int *restrict score, int n, int penalty) {
  int above[128], width = n + 1;
  for (int j = 0; j <= n; j++) above[j] = table[j];
  for (int i = 1; i <= n; i++) {
    int left = table[i * width], corner = above[0];
    above[0] = left;
    for (int j = 1; j <= n; j++) {
      int up = above[j];
      left = max(max(corner + score[i * width + j], up - penalty), left - penalty);
      corner = up;
      above[j] = left;
      table[i * width + j] = left;
    }
  }
}

__kernel void needleman_in_place(__global int *restrict table, __global const int *restrict score, int n, int penalty) {
  int width = n + 1;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      int at = i * width + j;
      table[at] = max(table[at - width - 1] + score[at], max(table[at - 1] - penalty, table[at - width] - penalty));
    }
}

__kernel void run_lengths(__global const int *restrict a, __global int *restrict values, __global int *restrict lengths,
                          __global int *restrict runs, int n) {
  int last = a[0], count = 1, k = 0;
  for (int i = 1; i < n; i++)
    if (a[i] == last)
      count++;
    else {
      values[k] = last;
      lengths[k++] = count;
      last = a[i];
      count = 1;
    }
  values[k] = last;
  lengths[k] = count;
  runs[0] = k + 1;
}

__kernel void breadth_first(__global const int *restrict row, __global const int *restrict column,
                            __global const char *restrict mask, __global const char *restrict visited,
                            __global char *restrict next, __global int *restrict cost, __global int *restrict again,
                            int n, int level) {
  for (int v = 0; v < n; v++)
    if (mask[v])
      for (int e = row[v]; e < row[v + 1]; e++)
        if (!visited[column[e]]) {
          cost[column[e]] = level;
          next[column[e]] = 1;
          *again = 1;
        }
}

__kernel void color_graph(__global const int *restrict row, __global const int *restrict column,
                          __global const int *restrict color, __global const int *restrict value,
                          __global int *restrict most, __global int *restrict again, int n) {
  for (int v = 0; v < n; v++)
    if (color[v] == -1) {
      int m = -1;
      for (int e = row[v]; e < row[v + 1]; e++) {
        int u = column[e];
        if (color[u] == -1 && u != v) {
          *again = 1;
          if (value[u] > m) m = value[u];
        }
      }
      most[v] = m;
    }
}

__kernel void hotspot(__global const float *from, __global const float *power, __global float *to, int rows, int cols,
                      float step) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) {
      int i = r * cols + c;
      float mid = from[i];
      float n = r == 0 ? mid : from[i - cols], s = r == rows - 1 ? mid : from[i + cols];
      float w = c == 0 ? mid : from[i - 1], e = c == cols - 1 ? mid : from[i + 1];
      to[i] = mid + step * (power[i] + (n + s - 2.0f * mid) * 0.25f + (e + w - 2.0f * mid) * 0.5f);
    }
}

__kernel void nearest(__global const float *places, __global float *distance, int n, float x, float y) {
  for (int i = 0; i < n; i++) {
    float dx = places[2 * i] - x, dy = places[2 * i + 1] - y;
    distance[i] = sqrt(dx * dx + dy * dy);
  }
}
