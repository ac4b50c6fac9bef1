"""Kernels that are split into a memory part and a compute part leave the same bytes, however far the first one runs
ahead."""

from collections import Counter

import pytest

from hls.analysis.channels.call_skeleton import CallSkeleton
from hls.analysis.channels.deadlock import find_deadlocks
from hls.analysis.channels.kpn_run import Link
from hls.ir import Module, print_module, walk
from hls.ir.accesses import memory_name
from hls.ir.parser import parse_module
from hls.ir.verifier import VerifyError, verify_module
from hls.passes.link import access_slice, kernel_parts
from hls.passes.link.decouple import Decouple
from hls.passes.link.movable_loads import MovableLoads
from tests.ir.meaning import difference
from tests.ir.new import input_of
from tests.programs.decoupled import apart, differs, split_of
from tests.programs.generate import random_kernel
from tests.repetitions import sampled


@pytest.mark.parametrize("seed", sampled(range(0, 240, 10)))
def test_same_bytes_after_the_split(seed):
    assert not differs(random_kernel(seed), seed)


def test_random_kernels_are_split():
    """Most are, and all kinds of what may happen do: loads that stay, conditions that are sent, values that are not."""
    seen: Counter[str] = Counter()
    for seed in range(0, 120, 5):
        before, after = split_of(random_kernel(seed).text)
        said = []
        Decouple(warn=said.append).run(before)
        seen["split"] += len(after.functions) == 2
        seen["kept"] += bool(said)
        seen["conditions"] += any(channel.element.bits == 1 for channel in after.channels.values())
        if len(after.functions) == 2:
            seen["unsent"] += _global_loads(after, "k_memory") > len(after.channels)
    assert seen["split"] >= 12, seen
    assert min(seen[kind] for kind in ("kept", "conditions", "unsent")) >= 2, seen


def _global_loads(module: Module, name: str) -> int:
    function = module.functions[name]
    loads = (op for op in walk(function.body) if op.opcode == "load")
    return sum(function.memories[memory_name(op)].space == "global" for op in loads)


#: kernels that leave other bytes, or do not end, where a step of the pass is wrong
STORED_BEFORE = """__kernel void k(__global int *restrict a, __global const int *restrict w, int n) {
  for (int i = 2; i < n; i++) a[i] = a[i - 2] * w[i];
}"""
NEXT_IS_STORED = """__kernel void k(__global int *restrict next, __global const int *restrict v, __global int *restrict o, int n) {
  int p = 0;
  for (int i = 0; i < n; i++) { next[i + 2] = i; p = next[p & 7] & 7; o[i] = v[p]; }
}"""
ADDRESSES_IN_ARRAY = """__kernel void k(__global const int *restrict v, __global int *restrict o, int n) {
  __private int __attribute__((memory)) order[64];
  #pragma unroll 1
  for (int i = 0; i < n; i++) order[i] = 3 * i;
  #pragma unroll 1
  for (int i = 0; i < n; i++) o[i] = v[order[n - 1 - i]];
}"""
CONDITION = """__kernel void k(__global const int *restrict v, __global int *restrict o, int n) {
  for (int i = 0; i < n; i++) if (v[i] > 3) o[i] = i;
}"""


SEND = kernel_parts._send


def _twice(region, sent):
    """Sends each value twice."""
    for _ in range(2):
        SEND(region, sent)


@pytest.mark.parametrize(
    "text, place, name, fault",
    [
        (STORED_BEFORE, MovableLoads, "_met", lambda self: {}),
        (NEXT_IS_STORED, MovableLoads, "_keep_decided", lambda self, loads, kept: None),
        (ADDRESSES_IN_ARRAY, access_slice, "written_memory", lambda op: ""),
        (ADDRESSES_IN_ARRAY, kernel_parts, "_is_idle", lambda part, name, read: part.memories[name].onchip),
        (CONDITION, kernel_parts, "_send", lambda region, sent: None),
        (CONDITION, kernel_parts, "_send", _twice),
        (CONDITION, kernel_parts, "predicate", lambda op: op.operands[0]),
    ],
    ids=["stores", "what-stays", "arrays", "arrays-read", "nothing-sent", "sent-twice", "conditions"],
)
def test_a_fault_in_a_step_is_noticed(text, place, name, fault, monkeypatch):
    run = "n=0..20, length(v)=80"
    before = input_of(text, "decouple", first=True)
    assert difference(before, Decouple().run(before), run) is None
    monkeypatch.setattr(place, name, fault)
    assert _wrong(before, run)


def _wrong(before: Module, run: str) -> bool:
    """Whether the split program leaves other bytes, or is not even one."""
    after = Decouple().run(before)
    try:
        verify_module(after)
    except VerifyError:
        return True
    return difference(before, after, run) is not None


def test_the_conditions_of_what_is_sent_are_those_of_the_loads():
    """A load under a condition is sent under it; a condition is sent each time."""
    _, after = split_of(CONDITION.replace("o[i] = i", "o[i] = v[i + 20]"))
    part = after.functions["k_memory"]
    sent = [op for op in walk(part.body) if op.opcode == "channel_write"]
    assert sorted(op.operands[2].type.bits for op in sent) == [1, 32]
    condition, value = sorted(sent, key=lambda op: op.operands[2].type.bits)
    assert value.operands[1] is condition.operands[2]


@pytest.mark.parametrize("seed", sampled(range(0, 120, 10)))
def test_nothing_is_received_in_loops_that_take_turns(seed):
    """Whichever loops these are; the bytes stay the same."""
    kernel = random_kernel(seed)
    before = input_of(kernel.text, "decouple", first=True)
    turning = frozenset(
        inner.span for op in walk(before.functions["k"].body) if op.opcode == "loop" for inner in walk_loops(op)
    )
    after = Decouple(turning=turning).run(before)
    for function in after.kernels:
        for loop in walk(function.body):
            if loop.opcode == "loop" and loop.span in turning:
                assert not any(op.opcode.startswith("channel_") for op in walk(loop.regions[0]))
    assert not apart(kernel, seed, before, after)


def walk_loops(loop):
    return [op for op in walk(loop.regions[0]) if op.opcode == "loop"]


def test_the_parts_cannot_wait_for_each_other():
    """With channels of one value, whatever data decides: the analysis proves it for all random kernels that are
    split."""
    kinds: Counter[str] = Counter()
    for seed in range(0, 120, 10):
        _, after = split_of(random_kernel(seed).text)
        links = [Link((name, 0), name, 1, "k_memory", "k") for name in after.channels]
        kinds.update(one.kind for one in find_deadlocks([CallSkeleton(f) for f in after.kernels], links))
    assert set(kinds) == {"proved"} and kinds["proved"] >= 5, kinds


def test_parts_stay_as_they_are():
    """The pass may run again, and the program may be printed and read in between."""
    _, after = split_of(CONDITION)
    text = print_module(after)
    assert print_module(Decouple().run(parse_module(text))) == print_module(parse_module(text))


def test_names_that_are_taken():
    """Neither a kernel nor a channel of the program gets a second meaning."""
    other = "channel int k_condition_2;\n__kernel void k_memory(__global int *o) { o[0] = read_channel_intel(k_condition_2); }"
    before = input_of(
        f"#pragma OPENCL EXTENSION cl_intel_channels : enable\n{other}\n{CONDITION}", "decouple", "*", True
    )
    after = Decouple().run(before)
    assert list(after.functions) == ["k_memory", "k", "k_memory1"]
    assert len(after.channels) == 1 + len([op for op in walk(after.functions["k"].body) if op.opcode == "channel_read"])
