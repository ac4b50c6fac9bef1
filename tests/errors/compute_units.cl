channel int c;

__attribute__((num_compute_units(2))) __kernel void shared_out(__global int *restrict a)
{
  a[get_global_id(0)] = read_channel_intel(c);
}

__kernel void source() { write_channel_intel(c, 3); }

