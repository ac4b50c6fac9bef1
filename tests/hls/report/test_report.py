"""The report's own arithmetic, and its text and JSON forms against goldens."""

import dataclasses
import json as stdlib_json
from pathlib import Path

import pytest
from samples import BARE, FLAT, INNER, ITEMS, MEMORY, OUTER, REPORT, SHARED, SUM, TASK

from hls.report import Loop, Report, Resources, json, layout, text

GOLDEN = Path(__file__).with_name("sample.expect")


def test_text_golden(request):
    if request.config.getoption("--refresh"):
        GOLDEN.write_text(text.render(REPORT))
    assert text.render(REPORT) == GOLDEN.read_text()


def test_scheduled_ii_and_concurrency():
    assert (INNER.scheduled_ii, INNER.concurrency) == (1.0, 52)
    assert (MEMORY.scheduled_ii, MEMORY.concurrency) == (7.0, 6)
    assert (FLAT.scheduled_ii, FLAT.concurrency) == (None, None)
    assert dataclasses.replace(MEMORY, latency=0).concurrency == 1
    assert dataclasses.replace(MEMORY, limit=2).concurrency == 2


@pytest.mark.parametrize("interleaving", [0, 8])
def test_interleaving_beyond_the_ii_is_refused(interleaving):
    with pytest.raises(ValueError, match="loop m: interleaving"):
        dataclasses.replace(MEMORY, interleaving=interleaving)


def test_resources_add_up():
    assert REPORT.resources == Resources(2000 + 500 + 1000, 4100 + 900 + 2000, 12 + 4 + 8, 3)
    assert Report("k.cl", "b", 1.0, ()).resources == Resources()


def test_json_holds_every_field_and_what_follows_from_them():
    data = stdlib_json.loads(json.render(REPORT))
    kernel = data["kernels"][0]
    assert set(kernel) == {field.name for field in dataclasses.fields(TASK)}
    inner = kernel["loops"][0]["children"][0]
    assert set(inner) == {field.name for field in dataclasses.fields(Loop)} | {
        "scheduled_ii",
        "concurrency",
        "verdict",
        "category",
        "assumed",
        "fmax_mhz",
    }
    assert (inner["scheduled_ii"], inner["ii"], inner["interleaving"]) == (1.0, 9, 9)
    assert inner["span"] == {"file": "sample.cl", "line": 8, "column": 3, "length": 1}
    assert inner["bottleneck"]["shares"][1] == {
        "operation": SUM.shares[1].operation,
        "share": 0.96,
        "span": {"file": "sample.cl", "line": 9, "column": 3, "length": 1},
        "part": "operation",
        "opcode": "fadd",
        "subject": "",
    }
    assert data["resources"] == {"logic": 3500, "registers": 7000, "rams": 24, "dsps": 3}
    assert kernel["messages"][0]["hint"] == "remove it"
    assert data["messages"][0]["span"] is None


@pytest.mark.parametrize("kernel", [TASK, ITEMS, BARE], ids=lambda kernel: kernel.name)
def test_nothing_of_a_kernel_is_left_out_of_the_text(kernel):
    shown = text.render(dataclasses.replace(REPORT, kernels=(kernel,)))
    assert f"Kernel {kernel.name}" in shown
    for access in kernel.accesses:
        joint = {"load": "load of", "store": "store to"}[access.kind]
        assert f"{joint} {access.buffer} (line {access.span.line})" in shown and access.reason in " ".join(
            shown.split()
        )
    for private in kernel.privates:
        assert private.place in shown


def test_nesting_is_visible():
    lines = text.render(REPORT).splitlines()
    depth = {
        loop.label: next(line.index("+") for line in lines if f"+ Loop {loop.label} " in line)
        for loop in (OUTER, INNER, FLAT, SHARED)
    }
    assert depth["i"] == depth["s"] < depth["k"] == depth["t"]


def test_a_board_without_totals_shows_no_shares():
    shown = text.render(dataclasses.replace(REPORT, kernels=(BARE,), device=None))
    assert "%" not in shown and "the device holds" not in shown


def test_findings_keep_within_the_width():
    assert max(map(len, text.render(REPORT).splitlines())) <= layout.WIDTH
