"""Library functions that are not in arithmetic.cl, on the simulated board: the same bits as interpreter and
emulator."""

import numpy as np
import pytest

from sim.emulator import Emulator
from tests.kernels.system import Launch, kernel_names
from tests.kernels.test_arithmetic import operands
from tests.sim.emulator.both import ONE_ITEM

pytestmark = pytest.mark.verilator
SOURCE = """
__kernel void gammas(__global const float *restrict a, __global float *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    int sign;
    float size = lgamma_r(a[i], &sign);
    out[2 * i] = sign * size;
    out[2 * i + 1] = tgamma(a[i]);
  }
}
__kernel void doubles(__global const double *restrict a, __global double *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    out[3 * i] = exp(a[i]);
    out[3 * i + 1] = pow(a[i], a[i + 1]);
    out[3 * i + 2] = sin(a[i]);
  }
}
__kernel void double_gammas(__global const double *restrict a, __global double *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    int sign;
    double size = lgamma_r(a[i], &sign);
    out[3 * i] = sign * size;
    out[3 * i + 1] = tgamma(a[i]);
    out[3 * i + 2] = a[i] < 1.0 ? erf(a[i]) : erfc(a[i]);
  }
}
__kernel void smaller(__global const float *restrict a, __global float *restrict out, int n) {
  for (int i = 0; i < n; i++) {
    out[4 * i] = native_exp(a[i]) + native_recip(a[i + 1]);
    out[4 * i + 1] = native_tan(a[i]);
    out[4 * i + 2] = half_log(a[i]);
    out[4 * i + 3] = half_rsqrt(a[i]) + native_sqrt(a[i + 1]);
  }
}
"""
TYPES = {"gammas": np.float32, "doubles": np.float64, "double_gammas": np.float64, "smaller": np.float32}


def launch(kernel, n):
    values = operands(TYPES[kernel])
    return Launch({"a": values, "out": np.full(4 * len(values), 7, values.dtype)}, {"n": n})


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in (0, 63)], (0, 1))


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_the_emulator_agrees(system, kernel):
    one = launch(kernel, 63)
    emulated = {name: array.copy() for name, array in one.buffers.items()}
    Emulator(system.result.module).run(kernel, emulated, one.scalars, ONE_ITEM)
    assert emulated["out"].tobytes() == system.expected(kernel, one)["out"].tobytes()
