// Access patterns. Every kernel: 64 elements in, 64 out.
#define ARGS __global const int *restrict a, __global const int *restrict b, __global int *restrict out, \
             __global int *restrict more, int n

__kernel void many_loads(ARGS) {
  for (int i = 0; i < n; i++) out[i] = a[i] + a[(i + 7) & 63] + a[63 - i] * b[i];
}

__kernel void many_stores(ARGS) {
  for (int i = 0; i < n; i++) {
    out[i] = a[i];
    more[i] = b[i] ^ i;
    out[i + 20] = i;
  }
}

__kernel void scatter(ARGS) {  // the last writer of an element wins
  for (int i = 0; i < n; i++) out[a[i] & 15] = i;
}

__kernel void gather(ARGS) {
  for (int i = 0; i < n; i++) out[i] = b[a[i] & 63];
}

__kernel void chain_of_three(ARGS) {
  for (int i = 0; i < n; i++) out[i] = a[b[a[i] & 63] & 63];
}

__kernel void predicated(ARGS) {
  for (int i = 0; i < n; i++) {
    if (a[i] & 1) {
      out[i] = b[i];
      if (b[i] & 2) more[i] = a[b[i] & 63];
    } else if (a[i] & 4) {
      more[i] = -1;
    }
  }
}

__kernel void never_taken(ARGS) {
  for (int i = 0; i < n; i++)
    if (a[i] < 0) out[a[i]] = b[a[i]];
}

__kernel void strided(ARGS) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++) out[j * 16 + (i & 15)] = a[(i * 17 + j * 16) & 63];
}

__kernel void backwards(ARGS) {
  for (int i = n - 1; i >= 0; i--) out[i] = a[63 - i];
}

__kernel void transpose(ARGS) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) out[j * 8 + i] = a[i * 8 + j] + n;
}

__kernel void same_address(ARGS) {
  for (int i = 0; i < n; i++) out[5] = a[3] + i;
}

__kernel void before_and_after(ARGS) {
  int first = a[0];
  for (int i = 0; i < n; i++) out[i] = a[i] - first;
  more[0] = b[0];
}

__kernel void update(ARGS) {  // reads what earlier iterations wrote
  for (int i = 0; i < n; i++) out[a[i] & 7] += b[i];
}

__kernel void produce_consume(ARGS) {
  for (int i = 0; i < n; i++) more[i] = a[i] * 3;
  for (int i = 0; i < n; i++) out[i] = more[63 - i] + more[i];
}

__kernel void in_inner_loop_and_outside(ARGS) {
  for (int i = 0; i < n; i++) {
    out[i] = b[i];
    for (int j = 0; j < (a[i] & 3); j++) more[(i + j) & 63] = a[j] + out[i];
  }
}

__kernel void narrow(__global const uchar *restrict p, __global const short *restrict q, __global uchar *restrict r,
                     __global long *restrict s, int n) {
  for (int i = 0; i < n; i++) {
    r[i] = p[i] + 1;
    if (i & 1) r[i + 1] = q[i];
    s[i] = (long)q[i] << 33 | p[63 - i];
  }
}

__constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

__kernel void constant_table(ARGS) {
  for (int i = 0; i < n; i++) out[i] = table[a[i] & 7] * table[i & 7];
}

__kernel void items(ARGS) {
  int g = get_global_id(0);
  out[g] = a[g] + n;
}

__kernel void items_with_loop(ARGS) {
  int g = get_global_id(0), s = 0;
  for (int j = 0; j < (a[g] & 7); j++) s += b[(g + j) & 63] * j;
  if (s & 1) return;
  out[g] = s;
}

__kernel void items_2d(ARGS) {
  int x = get_global_id(0), y = get_global_id(1);
  out[y * 8 + x] = a[x * 8 + y] + (int)get_global_size(0) * 1000 + (int)get_global_offset(1) * 100;
}

__kernel void items_3d(ARGS) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  out[(z * 4 + y) * 4 + x] = (int)get_local_id(0) + 10 * (int)get_group_id(1) + 100 * (int)get_local_size(2)
                             + 1000 * (int)get_num_groups(0) + a[x];
}

__global int kept[64];

int exchanged(int i, int x) {
  static int last = 9;
  int before = last + kept[i & 63];
  last = x;
  kept[(i + 3) & 63] = x;
  return before;
}

__kernel void program_variables(ARGS) {  // in buffers as arguments behind these
  for (int i = 0; i < n; i++) out[i] = exchanged(a[i], b[i]);
}
