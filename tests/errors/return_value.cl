int g(int x) { if (x) return; return 1; }
void h(int x) { return x; }
__kernel void f(__global int *a) { h(1); a[0] = g(1) + h(2); }
