"""Arguments for which the host passes None: a kernel that tests the pointer sees null."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import Module
from hls.ir.interpreter import run_kernel
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from sim import cl

SOURCE = """
int biased(int x, __global const int *bias, int i) { return bias == NULL ? x : x + bias[i]; }
__kernel void layer(__global const int *restrict a, __global const int *restrict bias, __global int *restrict out, __global int *restrict signs)
{
    int i = get_global_id(0), v = biased(a[i], bias, i);
    out[i] = v;
    if (signs)
        signs[i] = v > 0;
}
__kernel void either(__global const int *a, __global const int *bias, __global int *out, __global int *signs)
{
    __global const int *from = bias ? bias : a;
    for (int i = 0; i < 64; i++)
        out[i] = !signs && from == a ? from[i] : -from[i];
}
"""
A, BIAS, ZERO = (np.random.default_rng(k).integers(-99, 99, 64).astype(np.int32) * (k > 0) for k in (1, 2, 0))
CASES = [(bias, signs) for bias in (None, BIAS) for signs in (None, ZERO)]


def expected(kernel, bias, signs) -> dict[str, np.ndarray]:
    if kernel == "either":
        return {"out": A if bias is None and signs is None else -A if bias is None else -bias}
    out = A if bias is None else A + bias
    return {"out": out} | ({} if signs is None else {"signs": (out > 0).astype(np.int32)})


@pytest.fixture(scope="module", params=["emulator", pytest.param("board", marks=pytest.mark.verilator)])
def program(request):
    return cl.Program(cl.create_some_context(board="de5net"), SOURCE).build(device=request.param)


@pytest.mark.parametrize("kernel", ["layer", "either"])
def test_host_programs(program, kernel):
    queue = cl.CommandQueue(program.context)
    for bias, signs in CASES:
        arrays = {"a": A, "bias": bias, "out": ZERO, "signs": signs}
        buffers = {
            name: array if array is None else cl.Buffer(program.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=array)
            for name, array in arrays.items()
        }
        cl.Kernel(program, kernel)(queue, (64,) if kernel == "layer" else (1,), None, *buffers.values()).wait()
        for name, values in expected(kernel, bias, signs).items():
            assert (buffers[name].bytes.view(np.int32) == values).all(), name


@pytest.mark.parametrize("kernel", ["layer", "either"])
def test_passes(kernel):
    module = parse_source(SOURCE, "k.cl", {}, []).module
    function = next(f for f in optimize(module, PipelineOptions(check=True)).kernels if f.name == kernel)
    for bias, signs in CASES:
        for each in (module, Module({kernel: function})):
            buffers = {
                name: None if array is None else array.copy()
                for name, array in (("a", A), ("bias", bias), ("out", ZERO), ("signs", signs))
            }
            run_kernel(each, kernel, buffers, {}, (64,) if kernel == "layer" else (1,))
            for name, values in expected(kernel, bias, signs).items():
                assert (buffers[name] == values).all(), name
