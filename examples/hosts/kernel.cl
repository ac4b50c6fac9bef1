// y = a x + y, one element for each work-item
__kernel void saxpy(__global const float *restrict x, __global float *restrict y, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
