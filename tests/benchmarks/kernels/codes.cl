// Checksums, hashes, a cipher and an interpreter.

__kernel void crc32(__global const uchar *restrict data, __global uint *restrict out, int n)
{
    uint crc = ~0u;
    for (int i = 0; i < n; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
    }
    out[0] = ~crc;
}

#define TURN(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

__kernel void sha256(__global const uint *restrict words, __constant uint *k, __global uint *restrict state, int blocks)
{
    uint h[8];
    for (int i = 0; i < 8; i++)
        h[i] = state[i];
    for (int block = 0; block < blocks; block++) {
        uint w[64];
        for (int t = 0; t < 16; t++)
            w[t] = words[block * 16 + t];
        for (int t = 16; t < 64; t++) {
            uint s0 = TURN(w[t - 15], 7) ^ TURN(w[t - 15], 18) ^ (w[t - 15] >> 3);
            uint s1 = TURN(w[t - 2], 17) ^ TURN(w[t - 2], 19) ^ (w[t - 2] >> 10);
            w[t] = w[t - 16] + s0 + w[t - 7] + s1;
        }
        uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], last = h[7];
        for (int t = 0; t < 64; t++) {
            uint t1 = last + (TURN(e, 6) ^ TURN(e, 11) ^ TURN(e, 25)) + ((e & f) ^ (~e & g)) + k[t] + w[t];
            uint t2 = (TURN(a, 2) ^ TURN(a, 13) ^ TURN(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            last = g;
            g = f;
            f = e;
            e = d + t1;
            d = c;
            c = b;
            b = a;
            a = t1 + t2;
        }
        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
        h[4] += e;
        h[5] += f;
        h[6] += g;
        h[7] += last;
    }
    for (int i = 0; i < 8; i++)
        state[i] = h[i];
}

uchar twice(uchar x)
{
    return (x << 1) ^ (x & 0x80 ? 0x1b : 0);
}

__kernel void aes(__global const uchar *restrict in, __global const uchar *restrict keys, __constant uchar *box,
                  __global uchar *restrict out, int blocks)
{
    for (int b = 0; b < blocks; b++) {
        uchar s[16];
        for (int i = 0; i < 16; i++)
            s[i] = in[b * 16 + i] ^ keys[i];
        for (int round = 1; round <= 10; round++) {
            uchar t[16];
            for (int c = 0; c < 4; c++)
                for (int r = 0; r < 4; r++)
                    t[c * 4 + r] = box[s[((c + r) & 3) * 4 + r]];
            for (int c = 0; c < 4; c++) {
                uchar all = t[c * 4] ^ t[c * 4 + 1] ^ t[c * 4 + 2] ^ t[c * 4 + 3];
                for (int r = 0; r < 4; r++) {
                    uchar mixed = t[c * 4 + r];
                    if (round < 10)
                        mixed ^= all ^ twice(t[c * 4 + r] ^ t[c * 4 + ((r + 1) & 3)]);
                    s[c * 4 + r] = mixed ^ keys[round * 16 + c * 4 + r];
                }
            }
        }
        for (int i = 0; i < 16; i++)
            out[b * 16 + i] = s[i];
    }
}

// A register machine: op in bits 28 to 31, d, s and t in 4 bits each from bit 24 down, a signed immediate in the low 16.
__kernel void interpreter(__global const uint *restrict program, __global int *restrict memory, __global int *restrict out, int most)
{
    int r[16];
    for (int i = 0; i < 16; i++)
        r[i] = 0;
    int pc = 0, steps = 0;
    while (steps < most) {
        uint word = program[pc];
        int d = (word >> 24) & 15, s = (word >> 20) & 15, t = (word >> 16) & 15;
        int immediate = (short)(word & 0xffff);
        pc++;
        steps++;
        uint op = word >> 28;
        if (op == 15)
            break;
        switch (op) {
        case 0: r[d] = r[s] + r[t]; break;
        case 1: r[d] = r[s] - r[t]; break;
        case 2: r[d] = r[s] & r[t]; break;
        case 3: r[d] = r[s] ^ r[t]; break;
        case 4: r[d] = r[s] * r[t]; break;
        case 5: r[d] = r[s] + immediate; break;
        case 6: r[d] = r[s] < r[t]; break;
        case 7: r[d] = memory[r[s] + immediate]; break;
        case 8: memory[r[s] + immediate] = r[d]; break;
        case 9: if (r[d] != r[s]) pc += immediate; break;
        case 10: if (r[d] == r[s]) pc += immediate; break;
        default: break;
        }
    }
    out[0] = steps;
    out[1] = r[1];
}
