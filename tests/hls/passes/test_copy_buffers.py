"""Kernels with copies of buffers compute the same, whether the buffers fit or not."""

import dataclasses

import numpy as np
import pytest
from merging import outcome

from hls.frontend import parse_source
from hls.ir import Module, is_access, memory_name
from hls.ir.interpreter import run_kernel
from hls.ir.launch import BYTES_BITS, IndexSpace, launch_value
from hls.ir.verifier import verify
from hls.options import Options
from hls.passes.lowering.inline import Inline
from hls.passes.memory.copy_buffers import Uncopied
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions
from hls.planning import Compilation, plan_program
from hls.planning.schedule import OperatorTiming
from hls.target.board import load_board
from tests.kernels.system import Launch
from tests.programs.generate import launches, random_kernel

FEW, MANY = 64, 4096
TIMING = OperatorTiming.of(load_board("de5net"))
PREFIX = """
__kernel void k(__global int *restrict a, __global const int *restrict at, __global int *restrict o, int n)
{
"""


def with_copies(
    module: Module, longest: int, names: frozenset[str] | None = None, record=None, side: int = 4, stored: int = 0
):
    """The only kernel after all passes, with copies that take ``side`` elements at a time, or so many of a buffer that
    is ``stored`` to, if that is another number."""
    (function,) = Inline().run(module).kernels
    options = PipelineOptions(
        timing=TIMING,
        copied=names,
        copy_bytes=longest,
        side_by_side=(side, stored or side),
        hazards=True,
        record=record,
    )
    for each in kernel_passes(options):
        function = each.run(function)
        verify(function)
    return function


def copied(function) -> set[str]:
    return {name.removesuffix("_copy") for name in function.memories if name.endswith("_copy")}


@pytest.mark.parametrize("seed", range(8))
def test_random_kernels(seed):
    kernel = random_kernel(seed)
    module = parse_source(kernel.text, "k.cl", {}, []).module
    found = [with_copies(module, size, side=4, stored=k) for size, k in ((FEW, 1), (MANY, 4))]
    for launch in launches(kernel, seed):
        expected = outcome(module, launch)
        for function in found:
            assert outcome(function, launch) == expected, kernel.text


def body(text: str, side: int = 4):
    return with_copies(parse_source(PREFIX + text + "}", "k.cl", {}, []).module, FEW, side=side)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("for (int i = 1; i < n; i++) a[at[i] & 7] += a[i - 1];", {"a", "at"}),
        # accesses of two types, and bytes
        ("for (int i = 1; i < n; i++) a[i & 7] += ((__global short *)a)[i];", set()),
        ("for (int i = 1; i < n; i++) atomic_add(&a[0], at[i]);", set()),
        ("for (int i = 1; i < n; i++) { a[i & 7] += a[i - 1]; barrier(CLK_GLOBAL_MEM_FENCE); }", set()),
    ],
)
def test_what_may_be_copied(text, wanted):
    assert copied(body(text)) == wanted


@pytest.mark.parametrize(
    ("head", "text", "why"),
    [
        ("volatile __global int *restrict a", "a[i & 7] += a[i - 1];", "volatile"),
        ("__global int *restrict a", "a[i & 7] += ((__global short *)a)[i];", "several types"),
        (
            "__global int *restrict a",
            "a[i] = a[i - 1]; atomic_add(&b[0], i);",
            "synchronizes with others while it runs (atomic)",
        ),
        ("__global int *restrict a", "a[i] = a[i - 1] + read_channel_intel(c);", "channel read"),
        ("__global int *restrict a", "a[get_global_id(0)] = a[i - 1];", "work-items of a launch share it"),
        ("__global int *a", "a[i] = a[i - 1] + b[i];", "b may be the same buffer"),
    ],
)
def test_why_a_buffer_is_not_copied(head, text, why):
    source = f"channel int c;\n__kernel void k({head}, __global int *b, int n) {{ for (int i = 1; i < n; i++) {{ {text} }} }}"
    told = []
    function = with_copies(parse_source(source, "k.cl", {}, []).module, FEW, frozenset({"a"}), told.append)
    (found,) = {one for one in told if isinstance(one, Uncopied)}
    assert found.buffer == "a" and why in found.why and not copied(function)


def test_several_compute_units_share_their_buffers():
    text = "__attribute__((num_compute_units(2))) __kernel void k(__global int *restrict a, int n) { for (int i = 1; i < n; i++) a[i] += a[i - 1]; }"
    told = []
    assert not copied(with_copies(parse_source(text, "k.cl", {}, []).module, FEW, None, told.append))
    assert any("several compute units" in one.why for one in told if isinstance(one, Uncopied))


def test_buffers_that_may_overlap_are_not_copied():
    text = "__kernel void k(__global int *a, __global int *b, int n) { for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i]; }"
    assert not copied(with_copies(parse_source(text, "k.cl", {}, []).module, FEW))


@pytest.mark.parametrize(
    ("stores", "marks", "wanted"),
    [
        ("if (at[i] > 0) a[at[i]] = a[at[i] - 1] + 1;", 1, {2, 3, 5}),
        # each store has marks of its own, of two that may be executed in one iteration
        ("if (at[i] > 2) { a[at[i]] = a[i]; a[at[i] + 2] = 7; }", 2, {3, 5, 7}),
        ("if (at[i] > 2) a[at[i]] = a[i]; else a[i] = 4;", 1, {1, 3, 4, 5}),
        ("a[at[i] + 1] = a[i]; if (at[i] < 2) a[6] = 7; else a[7] = 3;", 2, {0, 1, 3, 4, 6, 7}),
        # there are never more than four
        (
            "int x = at[i] + 1; if (x) { a[x] = a[i]; a[x ^ 8] = 3; a[i ^ 12] = x; a[at[i] + 9] = 4; a[10] = 6; }",
            4,
            None,
        ),
    ],
)
def test_only_stored_elements_are_written_back(stores, marks, wanted):
    text = f"for (int i = 0; i < n; i++) {{ {stores} }}"
    module, written = parse_source(PREFIX + text + "}", "k.cl", {}, []).module, []
    function = with_copies(module, FEW, side=1)
    assert sum(name.startswith("a_stored") for name in function.memories) == marks
    at = np.array([3, 0, 5, -1, 2, 5], np.int32)
    watch = dataclasses.make_dataclass("Watch", [])()
    watch.access = lambda op, offset: written.append(offset) if _writes(op, "a") and offset is not None else None
    watch.enter = watch.iterate = watch.leave = lambda *_: None
    first, written_first = _stored_by(module.kernels[0], at, watch, written)
    last, written_last = _stored_by(function, at, watch, written)
    assert first == last and sorted(written_last) == sorted(set(written_first))
    assert wanted is None or {offset // 4 for offset in written_last} == wanted


def _stored_by(function, at, watch, written):
    """The bytes of ``a`` after a run, and the offsets that were written."""
    written.clear()
    buffers = {"a": np.arange(16, dtype=np.int32).view(np.uint8), "at": at.view(np.uint8), "o": bytearray(64)}
    run_kernel(function, "k", buffers, {"n": 6}, watch=watch)
    return bytes(buffers["a"]), list(written)


def _writes(op, name: str) -> bool:
    return is_access(op) and op.opcode == "store" and memory_name(op) == name


@pytest.mark.parametrize("elements", [1, 15, 16, 17, 40])
def test_sizes_at_the_limit(elements):
    text = "for (int r = 0; r < 3; r++) for (int i = 1; i < n; i++) a[i] = a[i - 1] * 3 + a[i];"
    module = parse_source(PREFIX + text + "}", "k.cl", {}, []).module
    rng = np.random.default_rng(elements)
    launch = Launch(
        {name: rng.integers(-9, 9, elements).astype(np.int32) for name in ("a", "at", "o")}, {"n": elements}
    )
    for side in (1, 4):
        assert outcome(with_copies(module, FEW, side=side), launch) == outcome(module, launch)


def test_sizes_of_a_launch():
    space = IndexSpace.of((1,))
    assert launch_value("bytes_of_a_b", space, False, {"a_b": 12}) == 12
    assert launch_value("bytes_of_a", space, False, {}) == 0
    assert launch_value("bytes_of_a", space, False, {"a": 1 << 40}) == (1 << BYTES_BITS) - 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "for (int i = 1; i < n; i++) { int j = i; while (j > 0 && a[j - 1] > a[j]) { a[j] = a[j - 1]; j--; } a[j] = i; }",
            {"a"},
        ),
        # what a load waits for comes along
        ("for (int i = 0, x = 0; i < n; i++) { x = a[at[x]]; o[i] = x; }", {"a", "at"}),
        ("for (int i = 0; i < n; i++) o[i] = a[at[i]];", set()),
        # loads take the values of stores in flight
        ("for (int i = 0; i < n; i++) o[at[i]] += a[i];", set()),
    ],
)
def test_which_buffers_are_waited_for(text, wanted):
    board = load_board("de5net")
    module = parse_source(PREFIX + text + "}", "k.cl", {}, []).module
    (kernel,) = plan_program(module, Compilation(board, Options(copy_bytes=1024)))
    assert copied(kernel.function) == wanted
