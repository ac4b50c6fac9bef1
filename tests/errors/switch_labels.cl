__kernel void f(__global int *a, int n) {
  switch (n) {
    case 1: a[0] = 1; break;
    case n: a[0] = 2; break;
    case 1: a[0] = 3;
  }
  switch (n * 1.5f) { default: a[1] = 1; }
}
