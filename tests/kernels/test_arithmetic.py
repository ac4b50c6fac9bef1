"""Arithmetic in all formats on the simulated board: the same bits as the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "arithmetic.cl").read_text()
TYPES = {"of_double": np.float64, "of_half": np.float16, "of_float": np.float32}


def operands(dtype):
    """Ordinary numbers, and those at the ends of the format."""
    info = np.finfo(dtype)
    rng = np.random.default_rng(1)
    ends = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        np.inf,
        -np.inf,
        np.nan,
        info.max,
        info.tiny,
        -info.smallest_subnormal,
        info.eps,
        2.5,
        -3.5,
    ]
    return np.concatenate(
        [np.array(ends, dtype), rng.normal(0, 40, 40).astype(dtype), rng.uniform(0, 2, 11).astype(dtype)]
    )


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    values = operands(TYPES[kernel])
    buffers = {"a": values, "out": np.full(6 * len(values), 7, values.dtype)}
    system.check(kernel, [Launch(buffers, {"n": n}) for n in (0, 1, len(values) - 1)], (0, 1))
