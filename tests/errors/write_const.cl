__constant int table[3] = {1, 2, 3};
const float plain[2] = {1, 2};
typedef struct { int x, y[2]; } Pair;
typedef const int fixed;
__kernel void f(__global const int *a, __global int *b, const int n, __constant float *c, __global const Pair *pairs, const Pair one) {
  const int local_table[2] = {n, 2};
  const Pair here = {1};
  const __global int *p = b;
  fixed late = n;
  a[0] = 1;
  table[1] = 4;
  plain[0]++;
  n = 2;
  c[n] = 1;
  (*(p + 1))--;
  local_table[0] = 3;
  here.y[1] = 4;
  pairs[n].y[0] = 5;
  pairs->x += 6;
  one.x = 7;
  late = 8;
  *(__global const int *)b = 9;
  vstore4((int4)(1), 0, a);
  vstore2((float2)(1), 0, c);
  vstore2((int2)(1), 0, local_table);
  atomic_inc((volatile __global const int *)b + n);
  atomic_inc(a);
  b[0] = table[0];
}
