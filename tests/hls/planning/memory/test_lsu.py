"""The table of LSU kinds, and that hardware is built as the memory plan says."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from hls.analysis.timing import lookup_is_long
from hls.options import Options
from hls.planning.memory.lsu import BURST_ALIGN, PATIENCE, LsuKind
from hls.target.board import load_board
from tests.plans import planned_text

ROOT = Path(__file__).resolve().parents[4]
BOARD = load_board("de5net")
KERNELS = """
__kernel void many(__global const float *restrict a, __global const int *restrict k, __constant float *t,
                   __global float *restrict b, __global int *restrict c, int n) {
    float once = a[n];
    #pragma unroll 1
    for (int i = 0; i < n; i++) {
        b[i] = a[i] + a[k[i]] + t[i & 63] + once;
        atomic_add(c + (k[i] & 7), 1);
    }
    b[n] = once;
}
__kernel void order(__global int *bins, __global const int *restrict k, int n) {
    for (int i = 0; i < n; i++) bins[k[i]] += 3;
}
__kernel void items(__global const float *restrict a, __global float *restrict b) {
    b[get_global_id(0)] = a[get_global_id(0)];
}
__kernel void wide(__global const int *restrict a, __global int *restrict b, int n) {
    #pragma unroll 8
    for (int i = 0; i < n; i++) b[8 * n - i] = a[i];
}
__kernel void merged(__global const int *restrict a, __global int *restrict b, int n) {
    int i = 0, j = n;
    for (int k = 0; k < n; k++) b[k] = a[i] < a[j] ? a[i++] : a[j++];
}
__kernel void far(__global const int *restrict a, __global int *restrict b, int n) {
    int i = 0;
    for (int k = 0; k < n; k++) b[k] = i += a[i] > 0 ? 12 : 1;
}
__kernel __attribute__((feed_forward(memory(0), compute(2)))) void copied(__global const int *restrict a,
        __global const int *restrict k, __global int *restrict b, int n) {
    for (int i = 0; i < n; i++) b[i] = a[k[i]];
}
__kernel void inside(__global int *restrict a) {
    __local int t[64];
    int i = get_local_id(0);
    t[i] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = t[63 - i];
}
"""


@pytest.fixture(scope="module")
def accesses():
    result = planned_text(KERNELS, BOARD, Options())
    return [access for kernel in result.kernels for access in kernel.memory.accesses.values()]


def test_every_kind_is_chosen_for_something(accesses):
    onchip = planned_text("__kernel void k(__global int *a) { a[0] = 1; }", load_board("ecp5_onchip"), Options())
    (access,) = onchip.kernels[0].memory.accesses.values()
    assert access.unit is LsuKind.RAM_PORT
    assert {access.unit for access in accesses} == set(LsuKind) - {LsuKind.RAM_PORT}


def test_the_plan_names_a_part_with_all_its_options(accesses):
    for access in accesses:
        part = access.hardware.part(addr_bits=BOARD.address_bits, **access.hardware.options)
        assert hasattr(part, "mem") or hasattr(part, "ram"), access.unit


def test_depths_and_patience_are_in_the_plan(accesses):
    latency = BOARD.memory.read_latency
    by_kind = {access.unit: access.hardware.options for access in accesses}
    assert by_kind[LsuKind.STORE]["patience"] == PATIENCE
    assert "patience" not in by_kind[LsuKind.ACKNOWLEDGED_STORE] and by_kind[LsuKind.ACKNOWLEDGED_STORE]["counted"]
    assert by_kind[LsuKind.CONSTANT_LOAD]["depth"] == 2 * latency + 32
    ahead, cached = by_kind[LsuKind.PREFETCHING_LOAD], by_kind[LsuKind.CACHED_LOAD]
    assert ahead["reads_ahead"] and ahead["pending"] >= latency and ahead["depth"] == 2 * latency + 32
    assert cached["words"] >= 2 * cached["pending"] and "reads_ahead" not in cached
    assert set(by_kind[LsuKind.PIPELINED_LOAD]) == {"word_bytes", "access_bytes"}
    stepping = by_kind[LsuKind.STEPPING_LOAD]
    assert stepping["ahead"] // 2 * stepping["word_bytes"] >= latency * stepping["access_bytes"]


def test_bursts_stay_within_a_bank(accesses):
    load = next(access for access in accesses if access.unit is LsuKind.PREFETCHING_LOAD)
    narrow = replace(BOARD.memory, interleave_bytes=BURST_ALIGN // 2)
    assert "burst_align" not in load.with_unit(BOARD.memory).hardware.options
    assert load.with_unit(narrow).hardware.options["burst_align"] == BURST_ALIGN // 2


def test_rows_differ_and_say_what_they_are():
    rows = [(kind.direction, kind.words) for kind in LsuKind]
    assert len(set(rows)) == len(rows)
    for kind in LsuKind:
        assert (kind.part is None) == (kind.options is None) == (not kind.direction), kind


def test_rtl_names_no_part_of_the_table():
    parts = {part.__name__ for kind in LsuKind for part in (kind.part, kind.wide_part) if part}
    used = [
        f"{file.name}: {alias.name}"
        for file in sorted((ROOT / "hls/rtl").glob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in parts
    ]
    assert used == []


def test_the_guide_names_every_place_that_distinguishes_kinds():
    guide = (ROOT / "docs/contributing/lsu.md").read_text()
    users = {
        str(file.relative_to(ROOT))
        for folder in ("hls", "sim")
        for file in (ROOT / folder).rglob("*.py")
        if "LsuKind" in file.read_text() and file.name != "__init__.py"
    }
    assert "hls/rtl/kernel.py" in users
    assert {name for name in users if f"`{name}`" not in guide} == set()


@pytest.mark.parametrize(
    "board, long", [("ulx3s", True), ("ulx3s@40", False), ("ecpix5", False), ("ecpix5@150", True), ("de5net", False)]
)
def test_a_lookup_is_registered_where_placed_block_ram_is_late(board, long):
    """De5net's delay table is not fitted to placed parts."""
    target = load_board(board)
    assert lookup_is_long(target) == long
    source = "kernel void f(global int *restrict a, global int *restrict k, global int *restrict o, int n) {"
    made = planned_text(source + " for (int i = 0; i < n; i++) o[i] = a[k[i]]; }", target, Options()).kernels[0]
    units = {one.unit: one.hardware.options for one in made.memory.accesses.values()}
    assert units[LsuKind.CACHED_LOAD].get("registered", False) == long
    assert all("registered" not in options for kind, options in units.items() if kind is not LsuKind.CACHED_LOAD)
