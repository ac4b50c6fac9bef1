__kernel void f(__global int *a) {
  int constant = a[0];
  a[1] = constant;
}
__kernel void g(__global int *a, int local) { a[0] = local; }
struct s { int kernel; };
__kernel void f(__global int *a, int global) {
  for (int private = 0; private < 3; private++) a[private] = 1; int x, local;
  a[0] = s.constant;}
