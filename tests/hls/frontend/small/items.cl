inline uint mix(uint x) { x ^= x >> 16; x *= 0x7feb352du; return rotate(x, 5u); }
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void items(__global uint *restrict a, uint seed, long m) {
    const size_t g = get_global_id(0);
    uint x = a[g] + (uint)get_local_id(0), steps = 0;
    do { x = x & 1 ? x * 3 + 1 : x / 2; } while (x != 1 && ++steps < 50);
    long wide = m * (long)x - (m >> 3) % 7;
    a[g] = mix(x + seed) + steps + (uint)(wide >> 32) + (g < 4 ? 1 : 0);
}
