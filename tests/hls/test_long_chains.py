"""Chains of operations longer than Python's default recursion limit become hardware."""

import hls

KERNEL = """
__kernel void checksum(__global const uint *restrict a, __global uint *restrict out, int n) {
  uint x = 0;
  for (int i = 0; i < n; i++) {
    x ^= a[i];
    #pragma unroll
    for (int k = 0; k < 300; k++) x = (x >> 1) + ((x & 1) ? 0xedb88320u + k : k);
  }
  out[0] = x;
}
"""


def test_a_chain_of_a_thousand_operations():
    result = hls.compile(KERNEL)
    assert len(result.kernels[0].plan.latency) > 900
