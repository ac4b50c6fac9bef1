// Arrays in block RAM that begin anew: for each work-item, of which several are under way at once, or in each iteration of a loop, wherever they
// are declared. `n` is at most 64.
#define ARGS __global const int *restrict in, __global int *restrict out, int n

__kernel void counted(ARGS) {  // stores of two loops: each copy is a memory
  int count[64];
  int g = get_global_id(0), most = 0;
  for (int k = 0; k < 64; k++) count[k] = 0;
  for (int k = 0; k < n; k++) count[in[(g * 8 + k) & 511] & 63]++;
  for (int k = 0; k < 64; k++) most = count[k] > most ? count[k] : most;
  out[g] = most;
}

__kernel void stacked(ARGS) {  // as long as data say; two stores take turns at a port
  int stack[64];
  int g = get_global_id(0), top = 0, sum = 0;
  stack[top++] = g & 7;
  while (top > 0) {
    int v = stack[--top];
    sum = sum * 3 + in[v];
    if (2 * v + 1 < n) stack[top++] = 2 * v + 1;
    if (2 * v + 2 < n) stack[top++] = 2 * v + 2;
  }
  out[g] = sum;
}

__kernel void inserted(ARGS) {
  int sorted[64];
  int g = get_global_id(0);
  for (int k = 0; k < n; k++) {
    int v = in[(g * 5 + k) & 511], at = k;
    while (at > 0 && sorted[at - 1] > v) { sorted[at] = sorted[at - 1]; at--; }
    sorted[at] = v;
  }
  for (int k = 0; k < n; k++) out[g * n + k] = sorted[k];
}

__kernel void climbed(ARGS) {  // backwards and forwards, one store in the loop and one before it
  int seen[64];
  int g = get_global_id(0), at = 0, steps = 0;
  seen[0] = in[g & 511];
  while (at >= 0 && steps < 200) {
    if ((seen[at] & 3) != 0 && at < n - 1) {
      seen[at + 1] = seen[at] * 5 + steps;
      at++;
    } else {
      at--;
      if (at >= 0) seen[at] = seen[at] >> 1;
    }
    steps++;
  }
  out[g] = steps + at;
}

__attribute__((num_simd_work_items(2), reqd_work_group_size(8, 1, 1)))
__kernel void in_lanes(ARGS) {
  int t[64];
  int g = get_global_id(0), sum = 0;
  for (int k = 0; k < 64; k++) t[k] = in[(g + k) & 511] ^ k;
  for (int k = 0; k < n; k++) sum = sum * 3 + t[in[k] & 63];
  out[g] = sum;
}

__kernel void as_asked(ARGS) {
  int t[64] __attribute__((private_copies(2)));
  int g = get_global_id(0), sum = 0;
  for (int k = 0; k < n; k++) t[in[(g * 3 + k) & 511] & 63] = k;
  for (int k = 0; k < n; k++) t[in[k] & 63] = g;
  for (int k = 0; k < n; k++) sum += t[in[(g * 3 + k) & 511] & 63] * k;
  out[g] = sum;
}

__kernel void of_two(ARGS) {  // an array of the work-item, and one of an iteration in it
  int all[64];
  int g = get_global_id(0), sum = 0;
  for (int k = 0; k < 64; k++) all[k] = k;
  for (int r = 0; r < 3; r++) {
    int one[64];
    for (int k = 0; k < 64; k++) one[(k * 5 + r) & 63] = in[(g + k) & 511];
    for (int k = 0; k < n; k++) all[one[k] & 63] += k;
  }
  for (int k = 0; k < 64; k++) sum = sum * 5 + all[k];
  out[g] = sum;
}

__kernel void rows(ARGS) {  // a buffer for a row, filled and emptied
  __local int row[64];
  for (int y = 0; y < 64; y++) {
    for (int x = 0; x < n; x++) row[x] = in[(y * 5 + x) & 511] + y;
    int sum = 0;
    for (int x = 0; x < n; x++) sum = sum * 3 + row[n - 1 - x];
    out[y] = sum;
  }
}

__kernel void bordered(ARGS) {  // all cases of a condition store
  int row[64], other[64];
  for (int y = 0; y < 64; y++) {
    for (int x = 0; x < 64; x++) {
      int v = in[(y * 3 + x) & 511];
      if (v > 2000 && x > 0) row[x] = v;
      else if (v > 1000 || x == 5) row[x] = -v;
      else row[x] = y;
    }
    for (int x = 0; x < 64; x++) other[x] = row[in[x] & 63] + row[63 - x];
    int sum = 0;
    for (int x = 0; x < n; x++) sum = sum * 3 + other[x] + other[63 - x];
    out[y] = sum;
  }
}

__kernel void kept_over(ARGS) {  // filled but for one place, which is of the row before
  __local int row[64];
  for (int x = 0; x < 64; x++) row[x] = x;
  for (int y = 0; y < 64; y++) {
    for (int x = 0; x < 63; x++) row[x] = in[(y * 5 + x) & 511] + y;
    int sum = 0;
    for (int x = 0; x < 64; x++) sum = sum * 3 + row[63 - x];
    row[63] = sum;
    out[y] = sum;
  }
}

__kernel void tiled(ARGS) {  // products of tiles: one is filled while another is multiplied, and what is added to is read a tile later
  __local int a[8][8];
  int sum[8][8];
  for (int b = 0; b < 4; b++) {
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) sum[i][j] = b;
    for (int k = 0; k < n; k++) {
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) a[i][j] = in[(b * 7 + k * 64 + i * 8 + j) & 511];
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
          int s = sum[i][j];
          #pragma unroll
          for (int q = 0; q < 8; q++) s = (s ^ a[i][q]) * 5 + a[q][j];
          sum[i][j] = s;
        }
    }
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) out[8 * i + j] = sum[i][j];
  }
}
