#define SQUARE(x) ((x) * (x) + undefined_name)
#define TWICE(x) SQUARE(x) + SQUARE(x)
#define BAD_SYNTAX (1 +
__kernel void f(__global int *a, __global float *b) {
  a[0] = SQUARE(a[1]);
  a[2] = TWICE(3);
  a[3] = SQUARE(b);
}
