"""Which kernels are split into a memory part and a compute part, what is said of it, and what is refused."""

import json
import re
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.diag import CompileError
from hls.driver import plan_text
from hls.ir import Attr, Module, print_module
from hls.options import Options
from hls.passes import run_stages
from hls.planning import program
from hls.target.board import load_board
from tests.feed_forward.goals import source_of
from tests.feed_forward.table import text_of
from tests.hls.passes.test_copies_run_once import assert_passes_run_once

SOURCE = (Path(__file__).parents[2] / "feed_forward" / "kernels.cl").read_text()
#: an array with one port for reads: each part has its own; no copies can share the iterations
PORTS = """__kernel void k(__global const int *restrict v, __global int *restrict out, int n) {
  int __attribute__((memory, numbanks(1), numreadports(1), numwriteports(1), singlepump)) order[64];
  #pragma unroll 1
  for (int i = 0; i < 64; i++) order[i] = 37 * i & 63;
  int s = 0;
  for (int i = 0; i < n; i++) out[i] = s = v[order[i & 63]] + order[7 * i & 63] - s;
}
"""
RUNNING = """__kernel void k(__global const int *restrict a, __global int *restrict b, int n) {
  int s = 1;
  for (int i = 0; i < n; i++) b[i] = s = a[i] - s;
}"""
COPY = "__kernel void k(__global const int *restrict a, __global int *restrict b, int n) { for (int i = 0; i < n; i++) b[i] = a[i]; }"


def planned(text: str, board: str = "de5net", **options):
    return plan_text(text, load_board(board), Options(**options), "k.cl")


def names(plan) -> list[str]:
    return [one.function.name for one in plan.kernels]


def notes(plan) -> list[str]:
    return [str(one.message) for one in plan.warnings if one.code is not None and one.code.number in ("N0709", "N0710")]


def test_only_the_attribute_splits_by_default():
    assert names(planned(COPY)) == ["k"]
    plan = planned(COPY.replace("__kernel", "__kernel __attribute__((feed_forward))", 1))
    assert names(plan) == ["k", "k_memory"]
    assert notes(plan) == ["kernel k is split into a memory part, which loads ahead, and a compute part"]
    (channel,) = plan.channels
    assert (channel.name, channel.carries, channel.depth) == ("load of a (line 1)", "load of a", 512)
    assert planned(COPY, "ecp5_onchip", feed_forward="always").channels[0].depth == 16


def test_networks_with_parts():
    """The kernels that the program joins are proved as if they were whole; the parts of each, as its parts."""
    plan = planned(SOURCE)
    verdicts = {one.kernels: one.kind for one in plan.networks}
    assert verdicts[("pass_on", "collect")] == "proved"
    assert {("least", "least_memory"), ("pass_on", "pass_on_memory")} <= set(verdicts)
    assert set(verdicts.values()) == {"proved"}


def test_auto_splits_where_the_schedules_gain():
    plan = planned(PORTS, feed_forward="auto")
    assert names(plan) == ["k", "k_memory"], notes(plan)
    assert max(max(region.ii for region in one.plan.loops.values()) for one in plan.kernels) == 1
    assert [region.ii for region in planned(PORTS).kernels[0].plan.loops.values()] == [1, 2]
    plan = planned(RUNNING, feed_forward="auto")
    assert names(plan) == ["k"]
    left, alone = notes(plan)
    assert left.startswith("kernel k is not split into a memory part and a compute part: its loops take ")
    assert (
        alone == "no copies of kernel k share its iterations: its loop over i carries s from one iteration to the next"
    )


@pytest.mark.parametrize(
    "body, kernels, note",
    [
        ("b[i] = a[i];", 4, "4 copies of kernel k share the iterations of its outermost loop"),
        # a word for each element keeps the bus busy
        ("b[16 * k] = a[16 * k] + a[16 * k + 64 * n] + a[16 * k + 96 * n];", 1, "as memory is busy for .* of them"),
        ("b[i] = b[n - i] + a[i];", 1, "the store of b at line 1 may store to what another iteration loads"),
        ("{ double x = a[i]; %s b[i] = x; }" % ("x /= x + 3; " * 40), 1, "2 copies need .* of the .* logic cells"),
    ],
)
def test_auto_makes_copies_where_the_model_gains(body, kernels, note):
    """The one that memory limits is a nest, so that its iterations count more than the start of a launch."""
    text = COPY.replace(
        "b[i] = a[i];", f"for (int j = 0; j < 512; j++) {{ int k = 512 * i + j; {body} }}" if "k" in body else body
    )
    plan = planned(text, feed_forward="auto")
    assert len(plan.kernels) == kernels
    assert any(re.search(note, one) for one in notes(plan)), notes(plan)
    assert len(planned(text).kernels) == 1


@pytest.mark.parametrize("condition, kernels", [("", 1), ("if (at[j] > 0) ", 2)])
def test_auto_counts_stores_under_conditions_half(condition, kernels):
    """Scattered stores are a word of memory each, which limits copies."""
    text = f"""__kernel void k(__global const int *restrict at, __global int *restrict a, __global int *restrict b, int n) {{
      #pragma ivdep
      for (int i = 0; i < n; i++)
        #pragma ivdep
        for (int j = 0; j < 4096; j++) {condition}a[64 * at[j] + i] = b[64 * at[j] + i] = i;
    }}"""
    assert len(planned(text, feed_forward="auto").kernels) == kernels


@pytest.mark.parametrize("size, trips, kernels", [(16, 2048, 4), (4096, 256, 1)])
def test_auto_divides_only_the_loop_that_copies_share(size, trips, kernels):
    """Each copy fills a table of its own, so that copies do not make this faster."""
    text = f"""__kernel void k(__global const int *restrict at, __global int *restrict out) {{
      int table[{size}];
      for (int j = 0; j < {size}; j++) table[j] = at[j];
      for (int i = 0; i < {trips}; i++) out[i] = table[at[i] & {size} - 1];
    }}"""
    plan = planned(text, feed_forward="auto")
    assert len(plan.kernels) == kernels, notes(plan)
    told = "2 copies are predicted to take [0-9,]+ cycles instead of [0-9,]+$"
    assert any(re.search(told, one) for one in notes(plan)) == (kernels == 1)


@pytest.mark.parametrize("asked", ["", "__attribute__((feed_forward)) "])
def test_elements_stay_carried_values_in_a_part(asked):
    """What the compute part receives orders none of its accesses, so the element that the iteration before stored is
    loaded once in a row, whether the kernel is split or not."""
    text = source_of("needleman_in_place").replace("__kernel ", f"__kernel {asked}", 1)
    compute, *memory = planned(text).kernels
    assert len(memory) == bool(asked)
    inner = next(loop for loop in compute.plan.loops if not any(op.regions for op in loop.regions[0].ops))
    loads = [op for op in inner.regions[0].ops if op.opcode == "load" and op.operands[0].op.attrs[Attr.MEM] == "table"]
    assert len(loads) == 2


def test_auto_copies_both_parts_of_a_kernel_that_a_split_makes_faster():
    plan = planned(text_of("total"), feed_forward="auto")
    copies = ["total", "total_copy", "total_copy1", "total_copy2"]
    assert names(plan) == [name for one in copies for name in (one, f"{one}_memory")]


#: sums of floats by rows: the inner loop takes turns, and what it loads stays in it
SUMS = """__kernel {} void k(__global const int *restrict row, __global const float *restrict v, __global float *restrict out,
                 int n) {{
  for (int i = 0; i < n; i++) {{
    float sum = 0.0f;
    for (int e = {}; e < {}; e++)
      if (e & 3) sum += v[e];
    out[i] = sum;
  }}
}}"""
STAYS = "the load of v at line 6 is in a loop whose invocations take turns \\(loop at line 5\\)"


@pytest.mark.parametrize("board", ["de5net", "ecp5_onchip"])
def test_turns_are_not_lost(board):
    """What a loop loads whose invocations take turns stays in it; the bounds of its rows are still received."""
    text = SUMS.format("", "row[i]", "row[i + 1]")
    (whole,), parted = planned(text, board).kernels, planned(text, board, feed_forward="always")
    before, after = (turning(one.plan) for one in (whole, parted.kernels[0]))
    assert before == after and len(before) == 1
    assert [one.carries for one in parted.channels] == ["load of row", "load of row no. 2"]
    assert any(re.match("of kernel k, " + STAYS, one.message) for one in parted.warnings)


def turning(plan) -> dict:
    """The II and the invocations in turn of loops, by line, where there are several of these."""
    return {loop.span.line: (region.ii, region.slots) for loop, region in plan.loops.items() if region.slots > 1}


def test_a_kernel_all_of_whose_loads_take_turns():
    plan = planned(SUMS.format("", "i * n", "i * n + n"), feed_forward="always")
    assert names(plan) == ["k"]
    assert any(re.match("of kernel k, " + STAYS, one.message) for one in plan.warnings)
    with pytest.raises(CompileError, match="k cannot be split .*: " + STAYS):
        planned(SUMS.format("__attribute__((feed_forward))", "i * n", "i * n + n"))


def test_a_kernel_that_cannot_be_split():
    """Asked for by name it is an error, by the option a note."""
    text = """__kernel {} void k(__global int *restrict a, __local int *t) {{
  t[get_local_id(0)] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[get_local_id(0) ^ 1];
}}"""
    with pytest.raises(CompileError, match="cannot be split .*: its work-items synchronize at barriers"):
        planned(text.format("__attribute__((feed_forward))"))
    plan = planned(text.format(""), feed_forward="always")
    assert names(plan) == ["k"]
    assert notes(plan) == [
        "kernel k is not split into a memory part and a compute part: its work-items synchronize at barriers"
    ]
    with pytest.raises(CompileError, match="an autorun kernel has no launch"):
        planned("__kernel __attribute__((autorun)) __attribute__((feed_forward)) void k() {}")


def test_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cl").write_text(COPY)
    run = CliRunner().invoke(
        main, ["compile", "k.cl", "-o", "out", "--no-html", "--feed-forward", "always", "--testbench"]
    )
    assert run.exit_code == 0, run.output
    report = (tmp_path / "out/report.txt").read_text()
    assert "Kernel k (line 1), compute part, with k_memory as memory part; single work-item kernel" in report
    assert "Kernel k_memory (line 1), memory part of kernel k: loads ahead of it" in report
    assert "  load of a (line 1): 32 bits wide, 512 deep in block RAM; from k_memory (line 1) to k (line 1)" in report
    assert [one["name"] for one in json.loads((tmp_path / "out/interface.json").read_text())["kernels"]] == ["k"]
    (tmp_path / "k.cl").write_text(COPY.replace("__kernel", "__kernel __attribute__((feed_forward))", 1))
    run = CliRunner().invoke(main, ["estimate", "k.cl"])
    assert run.exit_code == 1
    assert "kernel k has a memory part and a compute part, which the estimate does not cover" in run.output


TABLE = """__kernel {asked} void k(__global const int *restrict at, __global int *restrict out, int n) {{
  int table[1000000];
  for (int j = 0; j < 1000000; j++) table[j] = at[j];
  for (int i = 0; i < n; i++) {{
    int place = i;
    for (int k = 0; k < 32; k++) place = table[place & 0x7ffff];
    out[i] = place;
  }}
}}"""


def test_copies_have_room_for_their_arrays():
    """Two of a table that takes most of the block RAMs are refused where they are asked for, and not made by itself."""
    with pytest.raises(CompileError) as caught:
        planned(TABLE.format(asked="__attribute__((feed_forward(memory(0), compute(2))))"))
    assert "the arrays of its 2 parts need 3,430 block RAMs, and the device has 2,560" in str(caught.value)
    much = TABLE.format(asked="").replace("i < n", "i < 1000000")  # else what fills the tables takes the time
    found = planned(much, feed_forward="auto")
    assert names(found) == ["k"]
    assert any("2 copies need 3,430 of the 1,280 block RAMs" in one for one in notes(found))


def test_unequal_numbers_of_parts():
    """A memory part for several compute parts is one for each, which is said."""
    plans = [
        planned(text_of("total").replace("__kernel", f"__kernel __attribute__((feed_forward({one})))", 1))
        for one in ("memory(1), compute(2)", "memory(2), compute(1)", "memory(2), compute(2)")
    ]
    assert names(plans[0]) == names(plans[1]) == names(plans[2])
    told = "kernel total gets 2 memory parts and 2 compute parts, where memory({}) and compute({}) are asked for"
    assert [[one for one in notes(plan) if "asked for" in one] == [] for plan in plans] == [False, False, True]
    assert any(one.startswith(told.format(1, 2)) for one in notes(plans[0]))
    assert any(one.startswith(told.format(2, 1)) for one in notes(plans[1]))


#: kernels of the tables, how they are copied, and the plans that are made of their parts
COPIED = [
    ("rank", "memory(0), compute(4)", 1),
    ("total", "memory(0), compute(3)", 2),
    ("total", "memory(4), compute(4)", 4),
]


def described(plan) -> list:
    """The IR of all kernels, and where the schedule has their operations."""
    return [
        (
            print_module(Module({one.function.name: one.function}, {})),
            [
                (region.ii, region.slots, region.latency, list(region.place.values()))
                for region in one.plan.loops.values()
            ],
            [(access.memory, access.unit, str(access.reason)) for access in one.memory.accesses.values()],
            [channel.name for channel in one.inner],
        )
        for one in plan.kernels
    ]


@pytest.mark.parametrize("kernel, asked, plans", COPIED)
def test_copies_that_are_alike_are_planned_once(kernel, asked, plans, monkeypatch):
    """Of copies that differ in their number and channels only, one is planned; the others are as if they were, too."""
    text = text_of(kernel).replace("__kernel", f"__kernel __attribute__((feed_forward({asked})))", 1)
    with patch.object(program, "plan_alone", side_effect=program.plan_alone) as counted:
        once = planned(text)
    assert counted.call_count == plans
    for module in (program, run_stages):
        monkeypatch.setattr(module, "alike", lambda one, other, between: None)
    assert described(planned(text)) == described(once)


def test_a_recurrence_that_only_one_part_keeps_is_split():
    """The invocations of the inner loop wait for x, from which the loop around them knows whether to go on; so they do
    in the memory part, which the recurrence of s is no part of. In the compute part they take turns."""
    text = """__kernel void k(__global const int *restrict a, __global float *restrict out, int n) {
  uint x = 1;
  int again = 1;
  for (int i = 0; again; i++) {
    float s = i;
    for (int j = 0; j < 1000; j++) {
      x ^= x << 3;
      x ^= x >> 5;
      s = s * 0.5f + 1.25f;
    }
    again = a[x & 0xfffff] + x > n;
    out[i] = s;
  }
}"""
    assert names(planned(text, feed_forward="auto")) == ["k", "k_memory"]


def test_a_recurrence_that_every_part_keeps_is_not_split():
    """The invocations of the inner loop wait for each other through the array, so that no part could have them take
    turns: its recurrence of logic limits each part, and none is planned."""
    text = """__kernel void k(__global const uchar *restrict a, __global const uchar *restrict b, __global int *restrict out, int n) {
  int row[129];
  for (int j = 0; j <= n; j++) row[j] = j;
  for (int i = 1; i <= n; i++) {
    int corner = row[0];
    row[0] = i;
    for (int j = 1; j <= n; j++) {
      int above = row[j], best = min(min(row[j - 1], above) + 1, corner + (a[i - 1] != b[j - 1]));
      corner = above;
      row[j] = best;
    }
  }
  *out = row[n];
}"""
    with patch.object(program, "plan_alone", side_effect=program.plan_alone) as counted:
        plan = planned(text, feed_forward="auto")
    assert names(plan) == ["k"] and counted.call_count == 1


def test_of_equal_copies_of_an_autorun_kernel_one_is_planned(monkeypatch):
    assert_passes_run_once(monkeypatch, Options(feed_forward="auto"))
