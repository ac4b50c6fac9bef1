#ifndef WIDTH
#error "compile with -D WIDTH=..."
#endif
#if WIDTH >
#endif
__kernel void f(__global int *a) { a[0] = 1; }
