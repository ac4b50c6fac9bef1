int c(int x);
int a(int x) { return x ? c(x - 1) : 0; }
int b(int x) { return a(x) + 1; }
int c(int x) { return b(x) * 2; }
__kernel void k(__global int *o) { o[0] = a(3); }
