__constant int empty;
__constant float numbers[2] = { 1.0f, get_global_id(0) };
__constant int from_other = undefined_value;
__kernel void k(__global int *o) { o[0] = empty + from_other + (int)numbers[0]; }
