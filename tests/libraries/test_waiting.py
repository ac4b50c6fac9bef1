"""Modules that wait by ready and valid: on the emulator, and on the board with and without random stalls."""

from dataclasses import replace
from math import gcd
from pathlib import Path

import numpy as np
import pytest

from hls.driver import compile, plan_text
from hls.ir import Attr, walk
from hls.model.area import Resources
from hls.options import Options
from hls.report.collect import collect
from hls.report.model import Report
from hls.report.text import render
from hls.rtl_library import load_library
from hls.target.board import load_board
from sim import cl

HERE = Path(__file__).parent
OPTIONS = Options(include_dirs=(HERE,), libraries=load_library(HERE / "waiting.xml"))
COUNT = 24
KERNELS = """
#include "waiting.h"
__kernel void each(__global const uint *restrict a, __global uint *restrict o, int n)
{
    for (int i = 0; i < n; i++)
        o[i] = gcd(a[i], a[n - 1 - i]) + square(i);
}
__kernel void chain(__global const uint *restrict a, __global uint *restrict o, int n)
{
    uint last = 0;
    for (int i = 0; i < n; i++) {
        last = gcd(last * 2 + a[i], 360);
        o[i] = last;
    }
}
__kernel void nested(__global const uint *restrict a, __global uint *restrict o, int n)
{
    for (int i = 0; i < n; i++) {
        uint sum = 0;
        for (uint j = 0; j < a[i] % 5; j++)
            sum += gcd(a[i] + j, 12) * square(j);
        o[i] = sum;
    }
}
__kernel void until(__global const uint *restrict a, __global uint *restrict o, int n)
{
    int i = 0;
    while (i < n && gcd(a[i], 30) != 15) {
        o[i] = a[i];
        i++;
    }
}
__kernel void sometimes(__global const uint *restrict a, __global uint *restrict o, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] & 1)
            o[i] = gcd(a[i], n);
}
__attribute__((reqd_work_group_size(8, 1, 1)))
__kernel void group(__global const uint *restrict a, __global uint *restrict o, int n)
{
    __local uint t[8];
    int l = get_local_id(0);
    t[l] = gcd(a[get_global_id(0)], 36);
    barrier(CLK_LOCAL_MEM_FENCE);
    o[get_global_id(0)] = t[7 - l] + gcd(t[l], n);
}
"""
EACH = KERNELS.split("__kernel void chain")[0]
VALUES = np.random.default_rng(3).integers(0, 4000, COUNT, dtype=np.uint32) * 3
VALUES[COUNT // 2] = 45


def expected() -> dict[str, list[int]]:
    a = VALUES.tolist()
    chain, last = [], 0
    for value in a:
        last = gcd(last * 2 + value, 360)
        chain.append(last)
    stop = next(k for k, value in enumerate(a) if gcd(value, 30) == 15)
    tiles = [gcd(value, 36) for value in a]
    return {
        "each": [gcd(x, y) + i * i + 1 for i, (x, y) in enumerate(zip(a, reversed(a), strict=True))],
        "chain": chain,
        "nested": [sum(gcd(x + j, 12) * (j * j + 1) for j in range(x % 5)) for x in a],
        "until": a[:stop] + [0] * (COUNT - stop),
        "sometimes": [gcd(x, COUNT) if x & 1 else 0 for x in a],
        "group": [tiles[8 * (k // 8) + 7 - k % 8] + gcd(tiles[k], COUNT) for k in range(COUNT)],
    }


def results(device: str) -> dict[str, list[int]]:
    context = cl.create_some_context(device=device, **({} if device == "emulator" else {"board": "ecp5_onchip"}))
    queue = cl.CommandQueue(context)
    program = cl.Program(context, KERNELS).build([f"-I{HERE}", f"-library={HERE / 'waiting.xml'}"])
    found = {}
    for name in expected():
        source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=VALUES)
        target = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(COUNT, np.uint32))
        size, group = ((COUNT,), (8,)) if name == "group" else ((1,), None)
        cl.Kernel(program, name)(queue, size, group, source, target, np.int32(COUNT)).wait()
        result = np.zeros(COUNT, np.uint32)
        cl.enqueue_copy(queue, result, target).wait()
        found[name] = result.tolist()
    return found


def test_the_emulator_runs_models():
    assert results("emulator") == expected()


@pytest.mark.parametrize("seed", [7, 8])  # the one build with stalls; `library check` runs modules without
def test_modules_that_wait_on_the_board(monkeypatch, seed):
    monkeypatch.setenv("SLUICE_STALL_SEED", str(seed))
    assert results("board") == expected()


def test_a_call_ends_its_level_and_the_report_names_the_module():
    built = compile(EACH, "ecp5_onchip", OPTIONS, "k.cl")
    each = built.kernels[0]
    (call,) = [op for op in walk(each.function.body) if op.opcode == "rtl_wait"]
    assert (call.attrs[Attr.RTL_LATENCY], call.attrs[Attr.RTL_WAITS]) == (40, 1)
    (loop,) = each.plan.loops.values()
    assert call in [row.op for level in loop.levels for row in level.row]
    assert ".ivalid(" in "".join(built.verilog.values())
    report = collect(built, "k.cl")
    assert "modules" in render(report)
    unknown = replace(
        OPTIONS, libraries=tuple(replace(one, luts=0, registers=0, rams=0, dsps=0) for one in OPTIONS.libraries)
    )
    other = collect(compile(EACH, "ecp5_onchip", unknown, "k.cl"), "k.cl")
    modules = sum(op.opcode == "rtl_wait" for kernel in built.kernels for op in walk(kernel.function.body))
    assert total(report).rams - total(other).rams == modules
    assert total(report).logic > total(other).logic


def total(report: Report) -> Resources:
    return sum((kernel.resources for kernel in report.kernels), report.shared)


def test_a_replay_assumes_the_latency_of_the_library(monkeypatch, capsys):
    monkeypatch.setenv("SLUICE_PREDICT", "text")
    assert results("model") == expected()
    shown = capsys.readouterr().out
    assert "assumed: module gcd answers after 40 cycles, as its library says at line 6" in shown
    (each,) = [line for line in shown.splitlines() if line.startswith("each on")]
    assert COUNT * 40 <= int(each.split()[3].replace(",", "")) <= COUNT * 44  # one pair of operands at a time


def test_equal_calls_are_one():
    text = EACH.replace("+ square(i)", "* gcd(a[i], a[n - 1 - i])")
    (each, *_) = plan_text(text, load_board("ecp5_onchip"), OPTIONS, "k.cl").kernels
    assert sum(op.opcode == "rtl_wait" for op in walk(each.function.body)) == 1
