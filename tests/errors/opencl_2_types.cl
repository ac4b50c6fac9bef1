__kernel void w(__write_only pipe int p, queue_t q) {
    reserve_id_t r = 0;
}
__kernel void r(__read_only pipe int p) {
    ndrange_t n = 1;
}
