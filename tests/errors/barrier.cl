__kernel void f(__global int *a) {
  a[get_global_id(0)] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
}
