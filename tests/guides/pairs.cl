// Advice of the vendor's guides: each kernel `X_before` as one would write it first, and `X_after` as its guide advises.

__kernel void unroll_before(__global const int *restrict a, __global int *restrict out, int n) {
  int s = 0;
  #pragma unroll 1
  for (int i = 0; i < n; i++) s += a[i] ^ i;
  out[0] = s;
}

__kernel void unroll_after(__global const int *restrict a, __global int *restrict out, int n) {
  int s = 0;
  #pragma unroll 8
  for (int i = 0; i < n; i++) s += a[i] ^ i;
  out[0] = s;
}

__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void simd_before(__global const float *restrict a, __global float *restrict out) {
  int i = get_global_id(0);
  out[i] = a[i] * 1.5f + 2.0f;
}

__attribute__((reqd_work_group_size(64, 1, 1), num_simd_work_items(8)))
__kernel void simd_after(__global const float *restrict a, __global float *restrict out) {
  int i = get_global_id(0);
  out[i] = a[i] * 1.5f + 2.0f;
}

__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void units_before(__global const int *restrict a, __global int *restrict out) {
  int i = get_global_id(0), x = a[i];
  #pragma unroll 1
  for (int k = 0; k < 16; k++) x = x * 5 + k;
  out[i] = x;
}

__attribute__((reqd_work_group_size(64, 1, 1), num_compute_units(2)))
__kernel void units_after(__global const int *restrict a, __global int *restrict out) {
  int i = get_global_id(0), x = a[i];
  #pragma unroll 1
  for (int k = 0; k < 16; k++) x = x * 5 + k;
  out[i] = x;
}

// a reduction by work-items, and by one loop
__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void single_item_before(__global const int *restrict a, __global int *restrict out) {
  __local int part[64];
  int l = get_local_id(0);
  part[l] = a[get_global_id(0)];
  for (int w = 32; w > 0; w >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < w) part[l] += part[l + w];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) out[get_group_id(0)] = part[0];
}

__kernel void single_item_after(__global const int *restrict a, __global int *restrict out, int groups) {
  for (int g = 0; g < groups; g++) {
    int s = 0;
    for (int l = 0; l < 64; l++) s += a[g * 64 + l];
    out[g] = s;
  }
}

__attribute__((reqd_work_group_size(8, 8, 1)))
__kernel void tile_before(__global const float *restrict a, __global const float *restrict b, __global float *restrict out,
                          int n) {
  int r = get_global_id(1), c = get_global_id(0);
  float s = 0;
  for (int k = 0; k < n; k++) s += a[r * n + k] * b[k * n + c];
  out[r * n + c] = s;
}

__attribute__((reqd_work_group_size(8, 8, 1)))
__kernel void tile_after(__global const float *restrict a, __global const float *restrict b, __global float *restrict out,
                         int n) {
  __local float ta[8][8], tb[8][8];
  int r = get_local_id(1), c = get_local_id(0);
  int row = get_global_id(1), column = get_global_id(0);
  float s = 0;
  for (int t = 0; t < n; t += 8) {
    ta[r][c] = a[row * n + t + c];
    tb[r][c] = b[(t + r) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int k = 0; k < 8; k++) s += ta[r][k] * tb[k][c];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[row * n + column] = s;
}

__kernel void local_copy_before(__global const int *restrict t, __global const int *restrict a, __global int *restrict out,
                                int n) {
  for (int i = 0; i < n; i++) out[i] = t[a[i] & 255];
}

__kernel void local_copy_after(__global const int *restrict t, __global const int *restrict a, __global int *restrict out,
                               int n) {
  __local int mine[256];
  for (int i = 0; i < 256; i++) mine[i] = t[i];
  for (int i = 0; i < n; i++) out[i] = mine[a[i] & 255];
}

__kernel void restrict_before(__global const int *a, __global int *out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i] * 3;
}

__kernel void restrict_after(__global const int *restrict a, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i] * 3;
}

__kernel void pointer_before(__global const int *restrict a, __global int *restrict out, int n) {
  __global const int *p = a;
  __global int *q = out;
  for (int i = 0; i < n; i++) *q++ = *p++ + 7;
}

__kernel void pointer_after(__global const int *restrict a, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i] + 7;
}

__kernel void nest_before(__global const int *restrict a, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++)
    #pragma unroll 1
    for (int j = 0; j < 3; j++) out[3 * i + j] = a[3 * i + j] - i;
}

__kernel void nest_after(__global const int *restrict a, __global int *restrict out, int n) {
  for (int k = 0, i = 0, j = 0; k < 3 * n; k++) {
    out[k] = a[k] - i;
    if (++j == 3) {
      j = 0;
      i++;
    }
  }
}

__kernel void division_before(__global const int *restrict a, __global int *restrict out, int n, uint len) {
  for (uint i = 0; i < n; i++) out[i] = a[i] + (int)(i % len);
}

__kernel void division_after(__global const int *restrict a, __global int *restrict out, int n, uint len) {
  uint rest = 0;
  for (uint i = 0; i < n; i++) {
    out[i] = a[i] + (int)rest;
    if (++rest == len) rest = 0;
  }
}

__kernel void mask_before(__global const int *restrict a, __global const int *restrict b, __global long *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] = (long)a[i] * (long)b[i];
}

__kernel void mask_after(__global const int *restrict a, __global const int *restrict b, __global long *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] = (long)(a[i] & 0xFFFF) * (long)(b[i] & 0xFFFF);
}

__kernel void constants_before(__global const int *restrict a, __global int *restrict out, int n, int c0, int c1, int c2) {
  for (int i = 0; i < n; i++) out[i] = a[i] * c0 + a[i + 1] * c1 + a[i + 2] * c2;
}

__kernel void constants_after(__global const int *restrict a, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i] * 3 + a[i + 1] * 10 + a[i + 2] * 3;
}

typedef struct __attribute__((packed)) {
  char kind;
  int value;
  char more[2];
} Packed;

typedef struct __attribute__((aligned(8))) {
  char kind;
  int value;
} Aligned;

__kernel void struct_before(__global const Packed *restrict a, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i].kind + a[i].value;
}

__kernel void struct_after(__global const Aligned *restrict a, __global int *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i].kind + a[i].value;
}

__kernel void vector_before(__global int4 *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    int4 v = out[i];
    v.x += i;
    out[i].x = v.x;
  }
}

__kernel void vector_after(__global int4 *restrict out, int n) {
  for (int i = 0; i < n; i++) out[i] += (int4)(i, 0, 0, 0);
}

__kernel void stride_before(__global const int *restrict a, __global int *restrict out, int n) {
  for (int c = 0; c < 16; c++)
    for (int r = 0; r < n; r++) out[r * 16 + c] = a[r * 16 + c] + c;
}

__kernel void stride_after(__global const int *restrict a, __global int *restrict out, int n) {
  for (int r = 0; r < n; r++)
    for (int c = 0; c < 16; c++) out[r * 16 + c] = a[r * 16 + c] + c;
}

__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void branch_before(__global const int *restrict a, __global int *restrict out) {
  int i = get_global_id(0), s = 0;
  for (int k = 0; k < (i & 15) + 1; k++) s += a[i + k];
  out[i] = s;
}

__attribute__((reqd_work_group_size(64, 1, 1)))
__kernel void branch_after(__global const int *restrict a, __global int *restrict out) {
  int i = get_global_id(0), s = 0;
  #pragma unroll
  for (int k = 0; k < 16; k++) s += k < (i & 15) + 1 ? a[i + k] : 0;
  out[i] = s;
}
__kernel void wide_before(__global const int *restrict a, __global int *restrict out, int n) {
  #pragma unroll 1
  for (int i = 0; i < n; i++) out[i] = a[i] + i;
}

__kernel void wide_after(__global const int4 *restrict a, __global int4 *restrict out, int n) {
  for (int i = 0; i < n / 4; i++) out[i] = a[i] + (int4)(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
}
