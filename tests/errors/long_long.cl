__kernel void f(__global long long *a) { unsigned float x; a[0] = 1; }
