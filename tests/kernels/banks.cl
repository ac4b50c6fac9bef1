/* Memories in banks: who may be there at once, and in how many copies. `n` is a multiple of 16, at most 512. */
#define IO __global const int *restrict a, __global int *restrict out, int n

__attribute__((num_simd_work_items(4), reqd_work_group_size(64, 1, 1)))
__kernel void lanes(IO) {
  __local int t[64];
  int l = get_local_id(0), g = get_global_id(0);
  t[l] = a[g] * 3;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g] = t[63 - l] + t[l ^ 1];
}

__kernel void unrolled(IO) {
  int t[512];
  for (int i = 0; i < n / 4; i++) {
    #pragma unroll
    for (int k = 0; k < 4; k++) t[4 * i + k] = a[4 * i + k] + k;
  }
  for (int i = 0; i < n; i++) out[i] = t[n - 1 - i];
}

__kernel void histograms(IO) {
  int h[4][256];
  for (int i = 0; i < 256; i++) {
    #pragma unroll
    for (int k = 0; k < 4; k++) h[k][i] = 0;
  }
  for (int i = 0; i < n / 4; i++) {
    #pragma unroll
    for (int k = 0; k < 4; k++) h[k][a[4 * i + k] & 255]++;
  }
  for (int i = 0; i < 256; i++) {
    int s = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++) s += h[k][i];
    out[i] = s;
  }
}

__kernel void window(IO) {
  int t[16][64];
  for (int i = 0; i < 1024; i++) t[i >> 6][i & 63] = a[i & 511] ^ i;
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 62; x++) {
      int s = 0;
      #pragma unroll
      for (int k = 0; k < 9; k++) s += t[y + k / 3][x + k % 3] << k;
      out[y * 62 + x] = s;
    }
}

__kernel void either(IO) {
  int t[1024];
  for (int i = 0; i < 1024; i++) t[i] = a[i & 511] + i;
  for (int i = 0; i < n; i++) {
    int v = a[i];
    if (v & 1) out[i] = t[v & 1023];
    else out[i] = t[(v >> 3) & 1023] + 1;
  }
}

__kernel void halves(IO) {
  short t[2048] __attribute__((bankwidth(8)));
  for (int i = 0; i < n / 4; i++) {
    #pragma unroll
    for (int k = 0; k < 4; k++) t[4 * i + k] = (short)(a[4 * i + k] * 5);
  }
  for (int i = 0; i < n / 4; i++) {
    #pragma unroll
    for (int k = 0; k < 4; k++) out[4 * i + k] = t[4 * i + 3 - k];
  }
}

__kernel void masked(IO) {
  int t[4][128] __attribute__((bank_bits(8, 7), bankwidth(4)));
  for (int i = 0; i < n / 4; i++) {
    #pragma unroll
    for (int k = 0; k < 4; k++) t[k][(i + k) & 127] = a[4 * i + k] - k;
  }
  for (int i = 0; i < n / 4; i++) {
    int s = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++) s ^= t[k][(i + k) & 127];
    out[i] = s;
  }
}

__kernel void wrong_bits(IO) {
  int t[4][128] __attribute__((bank_bits(4, 3), bankwidth(4)));
  for (int i = 0; i < n / 4; i++) {
    #pragma unroll
    for (int k = 0; k < 4; k++) t[k][(i + k) & 127] = a[4 * i + k] - k;
  }
  for (int i = 0; i < n / 4; i++) out[i] = t[i & 3][i & 127];
}

__kernel void few_copies(IO) {
  int t[1024] __attribute__((max_replicates(1), numbanks(1)));
  for (int i = 0; i < 1024; i++) t[i] = a[i & 511] ^ i;
  for (int i = 0; i < n; i++) out[i] += t[(a[i] >> 2) & 1023] - t[(a[i] >> 5) & 1023] + t[i];
}

__constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__kernel void rows(IO) {
  int t[8][130];
  for (int i = 0; i < n / 8; i++) {
    #pragma unroll
    for (int k = 0; k < 8; k++) t[k][i + 2] = a[8 * i + k] * primes[k];
  }
  for (int i = 0; i < n; i++) out[i] = t[i & 7][(i >> 3) + 2];
}

__kernel void halves_of_one(IO) {  // two of three stores share a bank; a store of another loop uses both banks
  int t[2][256] __attribute__((bank_bits(8)));
  for (int i = 0; i < 512; i++) t[i >> 8][i & 255] = i;
  for (int i = 0; i < n; i++) {
    int v = a[i];
    t[0][i & 255] = v;
    t[1][(v & 127) * 2] = i;
    t[1][(v >> 8 & 127) * 2 + 1] = v + 1;
  }
  for (int i = 0; i < 512; i++) out[i] = t[i >> 8][i * 5 & 255];
}

__kernel void lanes_of_100(IO) {  // rows of no power of two, each counted into at a place of its own
  int h[4][100];
  #pragma unroll 1
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 100; i++) h[k][i] = k;
  for (int i = 0; i < n; i += 4) {
    #pragma unroll
    for (int k = 0; k < 4; k++) h[k][(a[i + k] & 0xffff) % 100] += i + 1;
  }
  for (int i = 0; i < 100; i++) {
    int s = 0;
    #pragma unroll
    for (int k = 0; k < 4; k++) s += h[k][i] * (k + 1);
    out[i] = s;
  }
}
