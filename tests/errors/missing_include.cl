#include "nowhere.h"
__kernel void f(__global int *a) { a[0] = 1; }
