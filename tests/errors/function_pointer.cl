int twice(int x) { return 2 * x; }
__kernel void f(__global int *a) {
  int (*g)(int) = twice;
  a[0] = g(1);
}
