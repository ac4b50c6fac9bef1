// integers of a width of their own: where there are none, and what is lost
#include "ihc_apint.h"
typedef float __attribute__((__ap_int(5))) Real;
typedef int __attribute__((__ap_int(65))) Huge;
typedef int Padded __attribute__((aligned(16)));
typedef struct { char c[3]; } Packed __attribute__((packed, strange));
__kernel void exact_widths(__global int *a, uint10_t x, int20_t y) {
    a[0] = (x >> 12) + as_int(y) + as_short(x);
    a[1] = y.x + x[0];
}
