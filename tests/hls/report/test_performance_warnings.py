"""Warnings of what costs cycles, bandwidth or area: a kernel that triggers each, and one after the advised change."""

from dataclasses import replace

import pytest

from hls import Options, compile
from hls.diag import Code
from hls.report import text
from hls.report.collect import collect
from hls.report.performance_warnings import performance_warnings

#: for each warning the body of a kernel that triggers it, and of one that does not; their parameters
PARAMETERS = "__global const int *{0} a, __global int *{0} o, int n, int len"
CASES = {
    Code.BANDWIDTH_WASTED: (
        "for (int i = 0; i < n; i++) o[i] = a[i * 16];",
        "for (int i = 0; i < n; i++) o[i] = a[i * 2];",
        "load of a[i * 16] uses 4 of every 64 bytes moved, 6 % of the bandwidth: its addresses are 64 bytes apart",
    ),
    Code.STORE_ACKNOWLEDGED: (
        "for (int i = 0; i < n; i++) o[i] = a[i] * 3;",
        "for (int i = 0; i < n; i++) o[i] = a[i] * 3;",
        "store to o[i] waits until memory acknowledges it in launches in which o overlaps a, before the load of a[i]",
    ),
    Code.SERIAL_REGION: (
        "for (int r = 0; r < 64; r++) { int s = o[r]; for (int c = 0; c < 100; c++) s += a[r * 100 + c]; o[s & 63] = s; }",
        "for (int r = 0; r < 64; r++) { int s = r; for (int c = 0; c < 100; c++) s += a[r * 100 + c]; o[r] = s; }",
        "serial region: one iteration of loop r at a time executes loop c",
    ),
    Code.LONG_II: (
        "int x = 1; for (int i = 0; i < n; i++) x = x * a[i] % 1000; o[0] = x;",
        "int x = 1; for (int i = 0; i < n; i++) x = x ^ a[i]; o[0] = x;",
        "loop i starts an iteration every",
    ),
    Code.DIVIDER_IN_LOOP: (
        "for (int i = 0; i < n; i++) o[i] = a[i % len];",
        "for (int i = 0; i < n; i++) o[i] = a[i % 24]; o[n] = n / len;",
        "integer remainder in loop i, by a divisor that is not constant: ",
    ),
}


def _name(code: Code, slow: bool) -> str:
    return f"{code.name.lower()}_{'before' if slow else 'after'}"


def _source() -> str:
    """A kernel a line: for each warning one before and one after the change."""
    kernels = []
    for code, bodies in CASES.items():
        for slow, body in zip((True, False), bodies, strict=False):
            plain = slow and code is Code.STORE_ACKNOWLEDGED
            parameters = PARAMETERS.format("" if plain else "restrict")
            kernels.append(f"__kernel void {_name(code, slow)}({parameters}) {{ {body} }}\n")
    return "".join(kernels)


@pytest.fixture(scope="module")
def report():
    return collect(compile(_source(), "de5net", Options(copy_bytes=0), "k.cl"), "k.cl")


def warned(report, name: str) -> list:
    (kernel,) = (one for one in report.kernels if one.name == name)
    return list(kernel.messages)


@pytest.mark.parametrize("code", CASES, ids=lambda code: code.name)
def test_a_kernel_that_triggers_it_and_one_that_does_not(report, code):
    (found,) = (one for one in warned(report, _name(code, True)) if one.code is code)
    assert found.severity == "warning" and found.message.startswith(CASES[code][2]) and found.hint
    assert found.span.line == 1 + 2 * list(CASES).index(code) and found.span.column > 1
    assert code not in {one.code for one in warned(report, _name(code, False))}


def test_costs_are_those_of_the_loops(report):
    (serial,) = warned(report, _name(Code.SERIAL_REGION, True))
    (kernel,) = (one for one in report.kernels if one.name == _name(Code.SERIAL_REGION, True))
    (loop,) = kernel.loops
    assert loop.paced - loop.lost == 100  # the trip count of the inner loop
    assert f"after at most {loop.paced} cycles instead of every 100" in serial.message


def test_a_recurrence_is_hidden_by_a_loop_around_it_only_where_there_is_one():
    loop = "for (int i = 0; i < n; i++) s += a[i];"
    bodies = {
        "alone": f"float s = 0; {loop} o[0] = s;",
        "inside": f'for (int r = 0; r < 64; r++) {{ float s = 0; _Pragma("max_interleaving 1") {loop} o[r] = s; }}',
    }
    text = "".join(
        f"__kernel void {name}(__global int *restrict a, __global int *restrict o, int n) {{ {body} }}\n"
        for name, body in bodies.items()
    )
    kernels = collect(compile(text, "de5net", Options(copy_bytes=0), "k.cl"), "k.cl").kernels
    hints = {}
    for kernel in kernels:  # without the changes that a report tries, as in `sluice check`
        loops = tuple(untried(loop) for loop in kernel.loops)
        messages = performance_warnings(replace(kernel, loops=loops), "ALMs")
        hints[kernel.name] = [one.hint for one in messages if one.code in (Code.LONG_II, Code.SERIAL_REGION)]
    assert len(hints["alone"]) == 1 and "partial results" in hints["alone"][0] and "around" not in hints["alone"][0]
    assert any("the loop around this one" in hint for hint in hints["inside"]), hints


def untried(loop):
    return replace(loop, would_be=(), children=tuple(map(untried, loop.children)))


def test_a_divider_is_named_with_its_area(report):
    (found,) = warned(report, _name(Code.DIVIDER_IN_LOOP, True))
    (kernel,) = (one for one in report.kernels if one.name == _name(Code.DIVIDER_IN_LOOP, True))
    (divider,) = (one for one in kernel.operators if one.opcode == "srem")
    assert 500 < divider.resources.logic < kernel.resources.logic and divider.loop == f"{kernel.name}/i"
    assert f"{divider.resources.logic:,} ALMs" in found.message


def test_a_stride_whose_words_a_cache_keeps_for_later_is_no_warning():
    """The next column is in the words that this one has read."""
    column = "for (int c = 0; c < 64; c++) for (int r = 0; r < 64; r++) o[c * 64 + r] = a[r * 64 + c];"
    source = f"__kernel void k({PARAMETERS.format('restrict')}) {{ {column} }}"
    found = collect(compile(source, "de5net", Options(copy_bytes=0), "k.cl"), "k.cl")
    (load,) = (one for one in found.kernels[0].accesses if one.kind == "load")
    assert load.cache_bytes and load.pattern == "stride 256 bytes" and load.efficiency is None
    assert not found.kernels[0].messages and not found.bottlenecks


def test_what_the_source_asks_for_is_no_warning():
    source = "__kernel void k(__global const int *restrict a, __global int *restrict o, int n) {{ {} }}"
    asked = source.format("\n#pragma ii 4\nfor (int i = 0; i < n; i++) o[i] = a[i];")
    found = collect(compile(asked, "de5net", Options(copy_bytes=0), "k.cl"), "k.cl")
    assert found.kernels[0].loops[0].ii == 4 and not found.kernels[0].messages


def test_warnings_are_at_the_end_of_the_text(report):
    shown = text.render(report)
    section = shown[shown.index("\nWarnings and notes\n") :]
    assert all(f"warning[{code.number}]" in section for code in CASES)
    assert "warning[" not in shown[: shown.index("\nWarnings and notes\n")]
    brief = text.render(report, brief=True)
    assert "warnings, in report.txt: " in brief and "1 x W0609" in brief


#: work-items that share an array: loops of one iteration, rounds between barriers, and true strides
SHARED = """#define GROUP __attribute__((reqd_work_group_size(64, 1, 1))) __kernel void
GROUP once(__global const float4 *restrict a, __global float4 *restrict o) {
    for (int i = get_local_id(0); i < 64; i += get_local_size(0)) o[i] = a[i] * 2;
}
GROUP rounds(__global const float4 *restrict a, __global float4 *restrict o, int n) {
    __local float4 t[64];
    int l = get_local_id(0);
    for (int c = 0; c < n; c++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] = a[c * 64 + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        o[c * 64 + l] = t[63 - l];
    }
}
GROUP copied(__global float4 *restrict o) {
    __local float4 t[64];
    t[get_local_id(0)] = (float4)(get_global_id(0));
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_copy(o + get_group_id(0) * 64, t, 64, 0);
    wait_group_events(1, &e);
}
GROUP apart(__global const float4 *restrict a, __global float4 *restrict o, int n) {
    for (int i = get_local_id(0); i < n; i += 64) o[i] = a[i] * 2;
}
"""


def test_bandwidth_of_neighbouring_work_items():
    """Words are shared by neighbouring work-items where these store one after the other: on the board, the stores of
    the first three kernels move no byte more than they store, that of the last one four times as many."""
    report = collect(compile(SHARED, "de5net", Options(copy_bytes=0), "k.cl"), "k.cl")
    wasted = {k.name: [m.message for m in k.messages if m.code is Code.BANDWIDTH_WASTED] for k in report.kernels}
    assert [name for name, messages in wasted.items() if messages] == ["apart"]
    assert (
        "16 of every 64 bytes moved, 25 % of the bandwidth: its addresses are 1,024 bytes apart" in wasted["apart"][0]
    )
