"""Random kernels through frontend and interpreter against PoCL, an independent compiler."""

import numpy as np
import pytest
from pocl import pocl_context
from random_kernels import INPUTS, OUTPUTS, random_program

from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify_module

KERNELS, ITEMS = 4, 6
_NUMPY = {"char": "i1", "uchar": "u1", "short": "i2", "int": "i4", "uint": "u4", "long": "i8", "float": "f4"}


@pytest.fixture(scope="module")
def context():
    return pocl_context()


def inputs(seed):
    rng = np.random.default_rng(seed)
    arrays = {}
    for name, t in INPUTS.items():
        if t == "float":
            arrays[name] = (rng.standard_normal(ITEMS) * 10.0 ** rng.integers(-3, 4, ITEMS)).astype("f4")
        else:
            kind = np.iinfo(_NUMPY[t])
            arrays[name] = rng.integers(kind.min, kind.max, ITEMS, _NUMPY[t], endpoint=True)
            arrays[name][:2] = [0, 1]
    return arrays


def outputs():
    return {name: np.full(ITEMS * n, 77, _NUMPY[t]) for name, (t, n) in OUTPUTS.items()}


def run_pocl(context, program, name, given, scalars):
    import pyopencl as cl

    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    results = outputs()
    buffers = {n: cl.Buffer(context, flags, hostbuf=a) for n, a in [*given.items(), *results.items()]}
    kernel = cl.Kernel(program, name)
    kernel(queue, (ITEMS,), (1,), *buffers.values(), np.int32(scalars["n"]), np.uint32(scalars["u"]))
    for n, array in results.items():
        cl.enqueue_copy(queue, array, buffers[n])
    return results


@pytest.mark.parametrize("seed", range(6))
def test_same_bytes_as_pocl(context, seed):
    import pyopencl as cl

    source = random_program(seed, KERNELS)
    program = cl.Program(context, source).build(options=["-w"])
    module = parse_source(source, "random.cl").module
    verify_module(module)
    given, scalars = inputs(seed), {"n": 5, "u": 0xDEADBEEF}
    for k in range(KERNELS):
        expected = run_pocl(context, program, f"k{k}", given, scalars)
        got = outputs()
        run_kernel(module, f"k{k}", {**given, **got}, scalars, (ITEMS,), (1,), max_iterations=100_000)
        for name, array in got.items():
            np.testing.assert_array_equal(array, expected[name], err_msg=f"seed {seed}, kernel k{k}, {name}")
