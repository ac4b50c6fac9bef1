static int total; // fine: in global memory
static const int table[2] = { 1, 2 };
int limits[2] = { 3, 4 };
__kernel void f(__global int *a) {
  static int calls = 0; // fine, too
  static const int steps[3] = { 1, 2, 3 };
  extern int other;
  a[0] = ++calls + table[1] + steps[2];
}
