// integers of a width of their own: where there are none, and what is lost
#include "ihc_apint.h"
typedef float __attribute__((__ap_int(5))) Real;
typedef int __attribute__((__ap_int(65))) Huge;
typedef int Padded __attribute__((aligned(16)));
__kernel void exact_widths(__global int *a, uint10_t x) {
    a[0] = x >> 12;
    a[1] = uint70_t;
    uint65_t y = x;
}
