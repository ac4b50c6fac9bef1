"""Private arrays that only hold constants, against the interpreter; and which ones remain writable arrays."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.interpreter import run_kernel
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize

#: more bits than a table in logic has
ELEMENTS = 200
NUMBERS = ", ".join(str(k * 37 % 101) for k in range(24))  # the others are zeros
SOURCE = (
    f"__kernel void k(__global const int *restrict at, __global int *restrict out) {{ int t[{ELEMENTS}] BEGIN; BODY }}"
)
#: what is done with the array, and whether it is a table
FORMS = {
    "read in a loop": ("for (int i = 0; i < 9; i++) out[i] = t[at[i]];", True),
    "read twice": ("for (int i = 0; i < 9; i++) out[i] = t[at[i]] + t[at[8 - i]];", True),
    "filled again by each work-item": ("int g = get_global_id(0); out[g] = t[at[g]];", True),
    "more constants behind": ("t[170] = 5; t[3] = 6; for (int i = 0; i < 9; i++) out[i] = t[at[i]];", True),
    "in an iteration": (
        (
            "for (int i = 0; i < 9; i++) { int u[99] = {1, 2, 3}; u[50] = 7; for (int j = 0; j < 3; j++) out[i] += "
            "u[(at[i] + j) % 99]; }"
        ),
        True,
    ),
    "a number nobody knows": ("t[5] = at[0]; for (int i = 0; i < 9; i++) out[i] = t[at[i]];", False),
    "a place nobody knows": ("t[at[0]] = 5; for (int i = 0; i < 9; i++) out[i] = t[at[i]];", False),
    "changed between": ("for (int i = 0; i < 9; i++) { out[i] = t[at[i]]; t[7] = 3; }", False),
    "read before": ("out[0] = t[at[0]]; t[7] = 3; for (int i = 1; i < 9; i++) out[i] = t[at[i]];", False),
    "changed sometimes": ("if (at[3] > 20) t[7] = 3; for (int i = 0; i < 9; i++) out[i] = t[at[i]];", False),
}


def outputs(module, size):
    at, out = np.array([0, 4, 7, 170, 150, 3, 199, 7, 4], np.int32), np.zeros(9, np.int32)
    run_kernel(module, "k", {"at": at, "out": out}, {}, (size,))
    return out.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    body, table = FORMS[form]
    source = SOURCE.replace("BEGIN", f"= {{{NUMBERS}}}").replace("BODY", body)
    size = 9 if "get_global_id" in body else 1
    module = parse_source(source).module
    optimized = optimize(module, PipelineOptions(check=True))
    (kernel,) = optimized.kernels
    spaces = {m.space for m in kernel.memories.values() if m.onchip}
    assert spaces == {"constant" if table else "private"}
    if table:
        stored = {op.operands[0].op.attrs["mem"] for op in walk(kernel.body) if op.opcode == "store"}
        assert stored == {"out"}
    assert outputs(optimized, size) == outputs(module, size)


@pytest.mark.parametrize("wish", ["memory", "numbanks(2)"])
def test_what_is_asked_to_be_a_memory_stays_one(wish):
    source = SOURCE.replace(" BEGIN", f" __attribute__(({wish})) = {{{NUMBERS}}}").replace(
        "BODY", FORMS["read in a loop"][0]
    )
    (kernel,) = optimize(parse_source(source).module).kernels
    assert {m.space for m in kernel.memories.values() if m.onchip} == {"private"}
