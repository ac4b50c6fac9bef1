__kernel void f(__global int *a) {
  static int calls = 0;
  a[0] = ++calls;
}
