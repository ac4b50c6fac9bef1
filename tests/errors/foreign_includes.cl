#include <iostream>
#include <cmath>
#include "ap_int.h"
#include <hls_stream.h>
#include <cuda_runtime.h>
#include "no_such_file.h"
#defin N 3
#els
__kernel void k(__global int *restrict a) { a[0] = 1; }
#ifdef N
