__attribute__((autorun)) __attribute__((max_global_work_dim(0))) __attribute__((num_compute_units(1000))) __kernel void p() {}
__attribute__((autorun)) __attribute__((max_global_work_dim(0))) __attribute__((num_compute_units(1000))) __kernel void q() {}
