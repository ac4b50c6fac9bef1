#pragma OPENCL EXTENSION cl_intel_channels : enable
channel float data __attribute__((depth(8)));
__kernel void f(__global float *a) { write_channel_intel(data, a[0]); }
