__kernel void f(__global bool *a) { a[0] = true; }
