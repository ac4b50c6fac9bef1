#define SAME(x, y) x == y
#define LOWEST 0
#define PRINT(x)
#define SET(x) (x = 1)
#define IF(x) if (x = 1)
#define SPARE(name) int name
#define LIMIT 1000
#define T uchar
__kernel void k(__global uchar *restrict a, uint n, __global T *restrict t, T s) {
  SAME(n, 3);
  SPARE(unused);
  if (n > 3) PRINT(n);
  if (n > 4)PRINT(n);
  if (SET(n)) a[0] = 1;
  IF (n) a[0] = 2;
  if (n < LOWEST || n >= LOWEST) a[1] = 1;
  uchar limit = LIMIT;
  a[2] = limit;
  const T v = t[0], table[2] = { s, 4 };
  a[3] = v < 0 || s > 255 || table[n & 1] < 0 || t[n] - 1 < -1 || ((T)a[4]) < 0;
}
