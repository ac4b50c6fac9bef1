"""Which kernels work on copies of the buffers that they wait for, in how many bytes, and what the others say."""

import json
import re
from dataclasses import replace

import pytest

from hls.driver import compile, plan_module
from hls.frontend import parse_source
from hls.ir import Attr, Copying, copied_by, walk
from hls.ir.launch import copied_buffers
from hls.model.estimate import Planned, estimate
from hls.model.workload import SCHEMA, ArgumentGiven, Histogram, LoopRuns, Place, Range, Workload
from hls.options import Options
from hls.planning import iterate
from hls.planning.copied_buffers import LEAST_BYTES, automatic_bytes, rams_of
from hls.planning.schedule.conflicts import address_conflicts, pace_at_random
from hls.report.collect import collect
from hls.report.json import render as to_json
from hls.report.text import render
from hls.target.board import load_board
from tests.benchmarks.suite import CASES

BOARD = "de5net"
SORTED = """
__kernel void k(__global int *restrict a, int n)
{
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i - 1;
        while (j >= 0 && a[j] > x) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = x;
    }
}
"""


#: a search level by level; only ``level`` is stored, and the edges of a node are known when its level is
SEARCHED = """
__kernel void k(__global const int *restrict first, __global const int *restrict last, __global const int *restrict edge,
                __global char *restrict level, int nodes, int levels)
{
    for (int l = 0; l < levels; l++)
        for (int v = 0; v < nodes; v++)
            if (level[v] == l)
                for (int e = first[v]; e < last[v]; e++)
                    if (level[edge[e]] < 0)
                        level[edge[e]] = l + 1;
}
"""


def copies(text: str, kernel: str = "k", board: str = BOARD, **options):
    kernels, _ = plan_module(parse_source(text, "k.cl", {}, []).module, load_board(board), Options(**options))
    (found,) = [one for one in kernels if one.function.name == kernel]
    return found.copies


def of_benchmark(kernel: str):
    (case,) = [one for one in CASES if one.kernel == kernel]
    texts = re.split(r"(?=^__kernel)", case.source, flags=re.MULTILINE)
    return copies(next(text for text in texts if f"void {kernel}(" in text), kernel)


def test_a_buffer_that_is_waited_for_is_copied_by_default():
    found = copies(SORTED)
    assert (
        found.copied == ("a",) and not found.others and 1024 <= found.most_bytes <= automatic_bytes(load_board(BOARD))
    )
    assert copies(SORTED, copy_bytes=2048).most_bytes == 2048


def test_no_copies_are_planned_twice(monkeypatch):
    """Where all copies of an attempt stay, as large as they were, its plan is the one that is taken."""
    planned, with_copies = [], iterate._with_copies
    monkeypatch.setattr(iterate, "_with_copies", lambda *how: planned.append(how) or with_copies(*how))
    assert copies(SORTED, copy_bytes=2048).copied == ("a",)
    assert planned
    # the nest as one loop is another program
    assert len(planned) == len({(*how[:4], id(how[4])) for how in planned})


@pytest.mark.parametrize(("board", "options"), [(BOARD, {"copy_bytes": 0}), ("ecp5_onchip", {})])
def test_nothing_is_copied_where_it_is_off_or_memory_is_near(board, options):
    found = copies(SORTED, board=board, **options)
    assert not found.copied and not found.others


def test_a_kernel_whose_copies_take_longer_than_its_waits():
    found = of_benchmark("jacobi")
    assert not found.copied and all("takes longer" in why for _, why in found.others) and len(found.others) == 2


def test_addresses_that_depend_on_data_make_smaller_copies():
    """The loop may end after a few iterations, and the whole buffer is copied."""
    search = """__kernel void k(__global const int *restrict a, __global int *restrict out, int x, int n) {
        int low = 0, high = n;
        while (low < high) { int middle = (low + high) / 2; if (a[middle] < x) low = middle + 1; else high = middle; }
        out[0] = low; }"""
    found, most = copies(search, copy_bytes=1 << 18), copies(SORTED, copy_bytes=1 << 18)
    assert found.copied == ("a",) and found.most_bytes < most.most_bytes


SCATTERED = """__kernel void k(__global const int *restrict at, __global int *restrict a, int n) {
    for (int i = 0; i < n; i++) if (a[INDEX] < i) { a[INDEX] = i; a[INDEX + 1] = i; } }"""


def test_loads_that_meet_stores_at_random():
    """Each load waits until the store to its address is in memory, which no II shows."""
    found = copies(SCATTERED.replace("INDEX", "at[i]"))
    assert "a" in found.copied and "at" not in found.copied
    assert not copies(SCATTERED.replace("INDEX", "2 * i")).copied


def test_the_mean_pace_of_loads_that_meet_stores():
    kernels, _ = plan_module(
        parse_source(SCATTERED.replace("INDEX", "at[i]"), "k.cl", {}, []).module,
        load_board(BOARD),
        Options(copy_bytes=0),
    )
    (region,) = kernels[0].plan.loops.values()
    (one,) = address_conflicts(region, 100)
    assert not one.forwarded and one.memory == "a"
    paces = [pace_at_random(1, [(one, elements)]) for elements in (1, 100, 10000, 1e9)]
    assert paces == sorted(paces, reverse=True) and 1 < paces[-1] < 1.01
    assert paces[0] <= 1 + one.cycles * len(one.stores) and paces[1] > 5


def moved_by(text: str) -> set[int]:
    """The bytes that iterations of the loops which copy to the chip move."""
    kernels, _ = plan_module(parse_source(text, "k.cl", {}, []).module, load_board(BOARD), Options())
    function = kernels[0].function
    loops = [op for op in walk(function.body) if op.attrs.get(Attr.COPYING) == Copying.MOVES]
    return {copied_by(loop, copied_buffers(function))[1] for loop in loops}


def test_several_elements_a_cycle_where_the_loops_are_as_fast():
    """An array that takes four elements at once has four banks, and a load on a recurrence waits for the choice of
    one."""
    assert moved_by(SORTED) == {16}
    followed = """__kernel void k(__global const int *restrict next, __global int *restrict out, int n) {
        for (int i = 0, k = 0; k < n; k++) { i = next[next[i] ^ 1] + 1; out[k] = i; } }"""
    assert moved_by(followed) == {4}


def test_what_is_only_loaded_moves_by_several_elements_beside_what_is_stored():
    """Whether a node was reached must be known before the next one is looked at; which nodes they are, long before."""
    search = """__kernel void k(__global const int *restrict edge, __global const int *restrict row, __global int *restrict level,
                        __global int *restrict queue, int n) {
        for (int head = 0, tail = 1; head < tail; head++) {
            int v = queue[head];
            for (int e = row[v]; e < row[v + 1]; e++)
                if (level[edge[e]] < 0) { level[edge[e]] = level[v] + 1; queue[tail++] = edge[e]; } } }"""
    assert moved_by(search) == {4, 16}


def test_small_boards_get_small_copies():
    bytes_of = {name: automatic_bytes(load_board(name)) for name in ("de5net", "orangecrab", "ecp5_onchip")}
    assert bytes_of["de5net"] > bytes_of["orangecrab"] > bytes_of["ecp5_onchip"] == 0


def test_a_device_that_is_too_small():
    board = load_board(BOARD)
    little = replace(board, device=replace(board.device, logic_cells=8000))
    kernels, _ = plan_module(parse_source(SORTED, "k.cl", {}, []).module, little, Options())
    ((name, why),) = kernels[0].copies.others
    assert name == "a" and "too much of the device" in why


def test_buffers_that_loops_on_copies_still_wait_for_are_copied_as_well():
    """With ``level`` on the chip, an iteration of the loop over v waits for the bounds and edges of the one before."""
    assert set(copies(SEARCHED).copied) == {"first", "last", "edge", "level"}


def test_copies_are_smaller_where_a_device_has_fewer_blocks():
    """An array of 128 KiB takes 53 blocks, and its marks take 14; a quarter of the device has 32."""
    board = load_board(BOARD)
    little = replace(board, device=replace(board.device, rams=replace(board.device.rams, count=128)))
    module = parse_source(SORTED, "k.cl", {}, []).module
    (kernel,) = plan_module(module, little, Options(copy_bytes=1 << 17))[0]
    assert kernel.copies.copied == ("a",) and LEAST_BYTES < kernel.copies.most_bytes < 1 << 17
    assert 16 < rams_of(kernel) <= 32


def test_the_report_says_what_is_copied_and_what_is_not():
    result = compile(SORTED, BOARD, Options(), "k.cl")
    report = collect(result, "k.cl")
    (kernel,) = report.kernels
    ((one),) = kernel.buffer_copies
    assert one.name == "a" and one.most_bytes == result.kernels[0].copies.most_bytes and not one.why
    outer = kernel.loops[0]
    assert outer.copies == 1 and outer.ii < 30 and outer.without_copies > 100
    text = " ".join(render(report).split())
    assert "a (line 2): copied to the chip" in text and f"II {outer.without_copies}" in text
    assert json.loads(to_json(report))["kernels"][0]["buffer_copies"][0]["name"] == "a"
    other = SORTED.replace("int *restrict a", "volatile int *restrict a")
    text = " ".join(render(collect(compile(other, BOARD, Options(), "k.cl"), "k.cl")).split())
    assert "not copied to the chip: it is volatile" in text


def workload(count: int, size: int) -> Workload:
    """One launch that sorts ``count`` elements in a buffer of ``size`` bytes."""
    runs = [(4, 5, None, count, 1), (6, 9, Place("", 4, 5), 5, count)]
    loops = tuple(
        LoopRuns(Place("", line, column), around, trips * times, Histogram((Range(trips, trips, times),)))
        for line, column, around, trips, times in runs
    )
    given = (ArgumentGiven("a", size), ArgumentGiven("n", 4, str(count)))
    return Workload(SCHEMA, "k", BOARD, 64, 8192, "", "", (1,), (1,), given, loops, (), (), ())


def test_the_model_takes_the_body_that_is_executed():
    board, module = load_board(BOARD), parse_source(SORTED, "k.cl", {}, []).module
    (kernel,), _ = plan_module(module, board, Options())
    planned = Planned(kernel.function, kernel.memory, kernel.plan, kernel.unrolled, kernel.merged, "k.cl")
    small, large = (estimate(planned, workload(100, size), board) for size in (400, kernel.copies.most_bytes + 4))
    copying = [loop.attrs.get(Attr.COPYING) for loop in kernel.plan.loops]
    for found, off in ((small, {Copying.WITHOUT}), (large, {Copying.MOVES, None})):
        idle = {what for what, loop in zip(copying, found.loops, strict=True) if not loop.iterations}
        assert idle == off
    # four elements in an iteration
    assert [loop.iterations for loop in small.loops if loop.name.startswith("copy")] == [25, 25]
    assert 3 * small.cycles.likely < large.cycles.likely


def test_every_loop_of_the_second_body_is_marked():
    kernels, _ = plan_module(parse_source(SORTED, "k.cl", {}, []).module, load_board(BOARD), Options())
    marks = [op.attrs.get(Attr.COPYING) for op in walk(kernels[0].function.body) if op.opcode == "loop"]
    assert sorted(map(str, marks)) == ["None", "None", "moves", "moves", "without", "without"]
