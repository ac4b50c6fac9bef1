// Numbers hashed repeatedly, by one, two or four compute units: the same work for each number, and hardly any memory.

#define STIR(UNITS) \
    __attribute__((num_compute_units(UNITS))) \
    __kernel void stir_##UNITS(__global const uint *restrict in, __global uint *restrict out, uint rounds) \
    { \
        int i = get_global_id(0); \
        uint x = in[i]; \
        for (uint k = 0; k < rounds; k++) { \
            x ^= x << 13; \
            x ^= x >> 17; \
            x = (x ^ x << 5) + k; \
        } \
        out[i] = x; \
    }

STIR(1)
STIR(2)
STIR(4)
