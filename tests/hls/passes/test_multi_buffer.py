"""Multi-buffering: one mechanism of copies for two owners, iterations of a loop and work-groups."""

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.ir import Attr, walk
from hls.ir.rewrite import constant
from hls.passes.manager import FunctionPass
from hls.passes.memory.multi_buffer import BufferOwner, MultiBuffer
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from tests.differential.devices import module_of
from tests.kernels.system import Launch

ITERATIONS = MultiBuffer(BufferOwner.ITERATIONS)


def kernel(declared: str, body: str) -> str:
    return (
        "__kernel void k(__global const int *restrict a, __global int *restrict b, int n) "
        f"{{ {declared} for (int y = 0; y < n; y++) {{ {body} }} }}"
    )


LOOP = "\n#pragma unroll 1\nfor (int x = 0; x < 200; x++) "
FILL = f"{LOOP} t[x] = a[x + y]; {LOOP} b[200 * y + x] = t[199 - x];"


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        (kernel("", f"int t[200]; {FILL}"), 4),
        (kernel("", f"int __attribute__((private_copies(3))) t[200]; {FILL}"), 4),
        (kernel("", f"int __attribute__((private_copies(7), max_private_copies(2))) t[200]; {FILL}"), 2),
        (kernel("", f"int t[2000]; {FILL}"), 2),  # there is room for 16 KiB
        (kernel("int t[200];", f"t[y & 31] = y; {FILL.replace('a[x + y]', 'a[x] + t[x]')}"), 1),  # read before written
        (kernel("", f"int t[5000]; {FILL}"), 1),  # too large
    ],
    ids=range(6),
)
def test_iterations_take_copies_in_turn(text, copies):
    module, before, after, last = passes_through(text, ITERATIONS)
    memory = after.memories["t"]
    assert dict(memory.attrs).get(Attr.COPIES, 1) == copies
    stride = 1 << (before.memories["t"].length * 4 - 1).bit_length() if copies > 1 else 4 * memory.length
    assert memory.length * 4 == copies * stride
    for n in (0, 1, 5):
        launch = Launch({"a": np.arange(300, dtype=np.int32), "b": np.zeros(2000, np.int32)}, {"n": n})
        for stage in (before, after, last):
            assert outcome(stage, launch) == outcome(module, launch), n


def test_memories_with_as_many_copies_share_a_counter():
    body = f"int t[200], u[200]; {LOOP} u[x] = a[x] * y; {FILL.replace('199 - x]', '199 - x] + u[a[x] & 31]')}"
    _, before, after, _ = passes_through(kernel("", body), ITERATIONS)
    outer = [next(op for op in f.body.ops if op.opcode == "loop") for f in (before, after)]
    assert {dict(after.memories[name].attrs)[Attr.COPIES] for name in "tu"} == {4}
    assert len(outer[1].results) == len(outer[0].results) + 1


GROUPS = """__attribute__((reqd_work_group_size(16, 1, 1))) __kernel void k(__global int *restrict a)
{
    __local int t[16], unused[4];
    int l = get_local_id(0), g = get_global_id(0);
    t[l] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[g] = t[15 - l] + a[g + 1000];
}"""


@pytest.fixture(scope="module")
def ordered():
    return optimize(module_of(GROUPS), PipelineOptions(check=True)).functions["k"]


@pytest.mark.parametrize(
    ("latency", "ram_bytes", "copies"), [(0, 0, 4), (0, 1 << 20, 8), (200, 1 << 20, 16), (0, 256, 2)]
)
def test_groups_have_copies_of_local_memory(ordered, latency, ram_bytes, copies):
    result = MultiBuffer(BufferOwner.GROUPS, latency, ram_bytes).run(ordered)
    group = next(op for op in walk(result.body) if op.opcode == "group")
    assert group.attrs["copies"] == copies == dict(result.memories["t"].attrs)[Attr.COPIES]
    assert group.attrs["mems"] == ("t",) and result.memories["t"].length == 16 * copies
    accesses = [op.result.op for op in walk(result.body) if op.opcode == "addr" and op.attrs["mem"] == "t"]
    assert len(accesses) == 2 and all(op.operands[0].op.opcode == "or" for op in accesses)
    assert all(constant(op.operands[0].op.operands[0].op.operands[1]) == 6 for op in accesses)  # 64 bytes for each


def test_owners_take_different_forms():
    groups: FunctionPass = MultiBuffer(BufferOwner.GROUPS)
    assert groups.requires & ITERATIONS.forbids
