__constant short table[] = { 1, -2, 3, -4, 5 };
__kernel void lanes(__global int4 *restrict a, __global ushort *restrict o, float scale, int n) {
    int4 sum = (int4)(0, 1, 2, 3);
    for (int i = 0; i < n; i++) {
        int4 v = a[i]; v = select(v, -v, v < 0); sum += v * convert_int4(vload4(0, o + i));
        switch (i % 4) { case 0: sum.x++; break; case 1: sum.yz = v.wx; default: sum.w ^= table[i % 5]; }
    }
    vstore4(convert_ushort4_sat(sum), 0, o); o[n] = (ushort)(scale * 3.5f) + popcount(sum.x) + any(sum == 3);
}
