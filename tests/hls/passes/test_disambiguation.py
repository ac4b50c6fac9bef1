"""Run-time checks of addresses that would wait for each other are not made: one finds an address, the other a condition."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.interpreter import run_kernel
from hls.passes.run_stages import link_program
from tests.plans import planned

#: the load of ``wb`` gives the address of the store to ``wa``, and the load of ``wa`` whether ``wb`` is stored to
CROSSED = """
__kernel void k(__global const int *restrict ia, __global int *restrict wa, __global uint *restrict wb, int n) {
  uint g = get_global_id(0);
  int odd = 2, i = 0, j = 0;
  do {
    for (j = j; j < 2; j++) {
      if (odd & 1) {
        if ((i == 1 ? wa[g * 8 + 1] : 1) & 1) break;
      } else {
        wa[g * 8 + ((wb[g * 8 + (odd & 7)] == 3 ? j : i) & 7)] = i & (ia[j & 63] - wa[g * 8 + (j & 7)]);
      }
      odd = (g & 3) != 0 ? 5 : g - 1000;
      wb[g * 8 + 1] = ia[n & 63];
    }
  } while (++i < (wb[g * 8 + (g & 7)] & 15));
}
"""
#: each address alone can be compared
APART = """
__kernel void k(__global const int *restrict ia, __global int *restrict wa, __global uint *restrict wb, int n) {
  for (int i = 0; i < n; i++) { wa[ia[i] & 7] += i; wb[ia[i + 1] & 7] ^= i; }
}
"""
#: whether ``y`` is stored to depends on a load of ``x``, which has to wait for the store to ``z``, if they are one buffer;
#: and that one stores what a load of ``y`` finds
BEHIND = """
__kernel void k(__global const int *x, __global int *y, __global int *z, int n, int m, int c) {
  for (int i = 1; i < n; i++) {
    for (int j = 2; j < m; j++) {
      z[j] = y[j - 1];
      y[j] = x[j] > c ? y[j - 1] + c : x[j];
    }
    y[1] = 5;
  }
}
"""


@pytest.mark.parametrize("board", ["de5net", "ecp5_onchip"])
def test_what_another_buffers_store_has_to_come_before_is_not_compared(board):
    kernel, program = planned(BEHIND, board)["k"].function, link_program(parse_source(BEHIND, "k.cl").module)
    values = np.random.default_rng(7).integers(0, 9, (3, 16)).astype(np.int32)
    for scalars in ({"n": 5, "m": 16, "c": 4}, {"n": 3, "m": 3, "c": 2}):
        seen = []
        for function in (program, kernel):
            buffers = {name: bytearray(one.tobytes()) for name, one in zip("xyz", values, strict=True)}
            hidden = {"overlap": 0} if function is kernel else {}
            run_kernel(function, "k", buffers, scalars | hidden, (1,))
            seen.append({name: bytes(one) for name, one in buffers.items()})
        assert seen[0] == seen[1]


@pytest.mark.parametrize("board", ["de5net", "ecp5_onchip"])
@pytest.mark.parametrize("source", [CROSSED, CROSSED.replace("*restrict wb", "*wb")])
def test_crossed_checks(source, board):
    kernel, program = planned(source, board)["k"].function, link_program(parse_source(source, "k.cl").module)
    rng = np.random.default_rng(7)
    for n in range(4):
        values = [rng.integers(0, 9, 64).astype(np.int32) for _ in range(3)]
        seen = []
        for function in (program, kernel):
            ia, wa, wb = (bytearray(one.tobytes()) for one in values)
            hidden = {"overlap": 0} if function is kernel else {}
            run_kernel(function, "k", {"ia": ia, "wa": wa, "wb": wb}, {"n": n, **hidden}, (8,))
            seen.append((bytes(wa), bytes(wb)))
        assert seen[0] == seen[1]


def test_checks_that_do_not_wait_for_each_other_are_made():
    hazards = [op for op in walk(planned(APART, "de5net")["k"].function.body) if op.opcode == "hazard"]
    assert {op.attrs["mem"] for op in hazards} == {"wa", "wb"}
