/* Memories whose blocks run at twice the clock. `n` is a multiple of 16, at most 512. */
#define IO __global const int *restrict a, __global int *restrict out, int n

__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void eight_reads(IO) {  // one write and eight reads: four blocks of 64 words, two reads of each
  __local int t[64] __attribute__((doublepump));
  int l = get_local_id(0), g = get_global_id(0), s = 0;
  t[l] = a[g];
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll
  for (int i = 0; i < 8; i++) s ^= t[(l * (i + 1) + i * i) & 63] << i;
  out[g] = s;
}

__kernel void three_ports(IO) {  // as in the guide: three reads and a write
  int t[16] __attribute__((memory, numbanks(1), bankwidth(64), doublepump, numreadports(3), numwriteports(1)));
  for (int i = 0; i < 16; i++) t[i] = i * i;
  for (int i = 0; i < n; i++) {
    int v = a[i], s = t[v & 15] + t[(v >> 4) & 15] - t[(v >> 8) & 15];
    out[i] = s + i;
    t[i & 15] = v;
  }
}

__kernel void histogram(IO) {  // reads what the iteration before writes
  int h[256] __attribute__((doublepump));
  for (int i = 0; i < 256; i++) h[i] = 0;
  for (int i = 0; i < n; i++) h[a[i] & 7] += 1 + (a[i] >> 16);
  for (int i = 0; i < 256; i++) out[i] = h[i];
}

__kernel void histograms(IO) {  // four banks
  int h[4][256] __attribute__((doublepump));
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

__attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void atomics(IO) {
  __local int h[32] __attribute__((doublepump));
  int l = get_local_id(0), g = get_global_id(0);
  h[l] = 0;
  h[l + 16] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&h[a[g] & 3], l + 1);
  atomic_max(&h[16 + ((a[g] >> 2) & 15)], l);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g] = h[l] + h[l + 16] + h[(l + 1) & 15] - h[31 - l];
}

__kernel void window(IO) {  // banks and several blocks of each
  int t[16][64] __attribute__((doublepump));
  for (int i = 0; i < 1024; i++) t[i >> 6][i & 63] = a[i & 511] ^ i;
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 62; x++) {
      int s = 0;
      #pragma unroll
      for (int k = 0; k < 9; k++) s += t[y + k / 3][x + k % 3] << k;
      out[y * 62 + x] = s;
    }
}

__kernel void either(IO) {  // loads that share a port, in banks of which each may be any
  int t[1024] __attribute__((doublepump, numbanks(4)));
  for (int i = 0; i < 1024; i++) t[i] = a[i & 511] + i;
  for (int i = 0; i < n; i++) {
    int v = a[i];
    if (v & 1) out[i] = t[v & 1023];
    else out[i] = t[(v >> 3) & 1023] + t[(v >> 6) & 1023];
  }
}

__kernel void bytes(IO) {  // pieces of words
  uchar t[512] __attribute__((doublepump, bankwidth(4)));
  for (int i = 0; i < 512; i++) t[i] = 3;
  for (int i = 0; i < n; i++) {
    int v = a[i];
    out[i] = t[v & 511] + (t[(v >> 7) & 511] << 8) + (t[i & 511] << 16);
    t[(i + 1) & 511] = (uchar)(v >> 3);
  }
}

__kernel void few_blocks(IO) {  // more loads than a block has time for: they take turns
  int t[1024] __attribute__((doublepump, max_replicates(1), numbanks(1)));
  for (int i = 0; i < 1024; i++) t[i] = a[i & 511] ^ i;
  for (int i = 0; i < n; i++) {
    int v = a[i];
    out[i] = t[v & 1023] - t[(v >> 3) & 1023] + t[(v >> 6) & 1023] * t[(v >> 9) & 1023] ^ t[i];
  }
}

__kernel void through_loops(IO) {  // read in one loop while it is written for the next
  int t[64] __attribute__((doublepump));
  for (int k = 0; k < 64; k++) t[k] = k;
  for (int j = 0; j < n / 16; j++) {
    for (int k = 0; k < 64; k++) t[k] = t[63 - k] + a[j] * k + t[(k * 5) & 63];
    out[j] = t[j & 63];
  }
}

__attribute__((reqd_work_group_size(32, 1, 1), num_compute_units(2)))
__kernel void two_units(IO) {  // each unit has a memory of its own, and both the second clock
  __local int t[32] __attribute__((doublepump));
  int l = get_local_id(0), g = get_global_id(0);
  t[l] = a[g];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g] = t[31 - l] - t[(l * 7) & 31] + t[(l + n) & 31];
}
