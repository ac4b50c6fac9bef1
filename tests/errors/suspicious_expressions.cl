__kernel void results_not_used(__global int *a, int n, volatile __global int *v) {
  n == 4;
  n + a[1];
  *a++;
  abs(n), n++;
  for (n; n < 3; n + 1) a[n] = 1;
  n ? a[0] : -a[0];
  (int)a[2];
  (void)n, n++, *v, get_global_id(0); // an effect, or meant
  n ? (void)a[0] : (void)n++, n > 0 && n--;
}
__kernel void results_behind_pointers(__global float *f, __global int *a) {
  float x = f[0], y;
  sincos(x, &y), fract(y, &f[1]), modf(x, &f[2]), frexp(x, &a[0]), lgamma_r(x, &a[1]);
  remquo(x, y, &a[2]);
  x > y ? modf(x, &f[3]) : y;
  modf(x, &y) + 1;
}
__kernel void conditions(__global int *a, int n) {
  if (n = 3) a[0] = 1;
  while (n = a[n]) a[n] = 2;
  do n--; while (n = a[n]);
  for (int i; i = a[n]; ) n = i;
  if ((n = 3)) a[1] = 1; // meant
  for (int i = 0; (i = n) > a[i]; ) n = i;
}
__kernel void comparisons(__global int *a, uint u, uchar c, char s, int n, bool b, ulong l) {
  a[0] = u < 0 || 0 > u;
  for (uint i = 9; i >= 0; i--) a[i] = 1;
  a[1] = c == 256 || c != -1 || 255 >= c;
  a[2] = s == 0xFF || s < -128;
  a[3] = n < 0u || n > 2147483647 || b == 2 || l > ~0ul;
  a[4] = u == -1 || u > 0 || c == 255 || s == -128 || s == 0xFFu || s > 126 || (n & 255) < 0 || b < 1; // both occur
}
__kernel void signs(__global int *a, int n) {
  n =+ 3;
  n =- a[0] + 1;
  n =-1, n = -1, n = - 1, n =~ n; // usual
  a[0] = n;
}
__kernel void constants(__global int *a, __global uchar *c, __global short *s, __global bool *b) {
  uchar t[2] = { 300, 255 };
  c[0] = 256, s[0] = -32769, s[1] = ~0u, a[0] = 1L << 40;
  a[1] = 3.7f, a[2] = -0.5f, a[5] = 3e9f, c[5] = 300.0f, c[6] = -1.0f, c[7] = 255.0f;
  a[3] = 0xFFFFFFFF, c[2] = -1, c[3] = ~0, s[2] = 0x8000, a[4] = 3e3f, b[0] = 2; // as many bits as the type, or exact
  c[4] = (uchar)300 + t[a[5]];
}
