__constant char name[] = "abc\0d";
__constant char format[] = "%s and %d%%\n";
const char other[4] = "xyz";
int f(int x) { switch (x) { case 1: return 1; case 1: return 2; default: return 3; default: return 4; } }
__kernel void k(__global ulong *a, __global int *b) {
  a[0] = 18446744073709551615; a[1] = 9223372036854775808u; a[2] = -9223372036854775808;
  a[3] = 18446744073709551616;
  printf(format, name, 3);
  printf("[%5s] %s\n", name, other);
  __constant char *p = name;
  printf("%s\n", p);
  printf("%s\n", b);
}
