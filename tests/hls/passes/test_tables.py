"""Constant tables read at run-time indices, against the interpreter; and which are refused."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.interpreter import run_kernel
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize

SOURCE = """
__constant {type} table[5] = {{3, 1, 4, 1, 5}};
__kernel void k(__global const int *restrict at, __global {type} *restrict out) {{
    for (int i = 0; i < 9; i++)
        if (at[i] >= 0)
            out[i] = table[at[i]];
}}
"""


@pytest.mark.parametrize("type", ["int", "uchar", "long", "float"])
def test_elements_at_run_time(type):
    module = parse_source(SOURCE.format(type=type)).module
    optimized = optimize(module, PipelineOptions(check=True))
    assert all(op.opcode != "load" or op.operands[0].op.attrs["mem"] == "at" for op in walk(optimized.kernels[0].body))
    at = np.array([0, 4, -1, 2, 2, 3, 1, -7, 4], np.int32)
    results = []
    for each in (module, optimized):
        out = np.zeros(9, {"int": np.int32, "uchar": np.uint8, "long": np.int64, "float": np.float32}[type])
        run_kernel(each, "k", {"at": at, "out": out}, {})
        results.append(out.tolist())
    assert results[0] == results[1] == [3, 5, 0, 4, 4, 1, 1, 0, 5]


def test_a_table_too_large_for_logic_stays_a_memory():
    source = SOURCE.format(type="int").replace("[5]", "[4096]")
    (function,) = optimize(parse_source(source).module).kernels
    assert [m.name for m in function.memories.values() if m.space == "constant"] == ["table"]
