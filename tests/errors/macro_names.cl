#define SQUARE(x) ((x) * (x))
#define BAD undefined_thing + 1
__kernel void f(__global int *a, int n) {
  a[0] = SQUARE(n + missing);
	a[1] =	BAD;
}
