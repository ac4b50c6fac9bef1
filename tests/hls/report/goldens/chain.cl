#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int way[4] __attribute__((depth(8)));
__kernel void feed(__global const int *restrict a, int n)
{
    for (int i = 0; i < n; i++)
        write_channel_intel(way[0], a[i]);
}
__attribute__((max_global_work_dim(0), autorun, num_compute_units(3)))
__kernel void add(void)
{
    int id = get_compute_id(0);
    while (1)
        write_channel_intel(way[id + 1], read_channel_intel(way[id]) + 1);
}
__kernel void take(__global int *restrict o, int n)
{
    for (int i = 0; i < n; i++)
        o[i] = read_channel_intel(way[3]);
}
