channel int c[40][30];
__attribute__((autorun)) __attribute__((max_global_work_dim(0))) __attribute__((num_compute_units(40, 30)))
__kernel void p()
{
    write_channel_intel(c[get_compute_id(0)][get_compute_id(1)], 1);
}
