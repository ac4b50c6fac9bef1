"""Bounds of a value that a comparison chooses: no run leaves them, and chunks that end with the data are bounded."""

import random

import pytest

from hls.analysis.affine.affine import AffineForms
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.parser import parse_function
from hls.options import Options
from hls.target.board import load_board
from tests.repetitions import sampled

_HOLDS = {"slt": lambda a, b: a < b, "sle": lambda a, b: a <= b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b}


def chosen(compare: str, more: int, arms: list[tuple[str, int]]) -> str:
    """A select between two sums of ``i`` and ``n``, by a comparison of another sum."""
    lines = [
        f"%{10 + k}: i32 = const {{value = {c & 0xFFFFFFFF}}}" for k, c in enumerate([more, *(c for _, c in arms)])
    ]
    lines += ["%20: i32 = add %0, %10", f"%21: i1 = {compare} %1, %20"]
    values = []
    for k, (form, _) in enumerate(arms):
        base = {"n-i": "sub %1, %0", "i-n": "sub %0, %1", "i": "add %0, %10", "const": None}[form]
        if base is None:
            values.append(f"%{11 + k}")
            continue
        lines += [f"%{30 + 2 * k}: i32 = {base}", f"%{31 + 2 * k}: i32 = add %{30 + 2 * k}, %{11 + k}"]
        values.append(f"%{31 + 2 * k}")
    lines.append(f"%40: i32 = select %21, {values[0]}, {values[1]}")
    body = "\n  ".join(lines)
    return f"kernel @k(%0: i32, %1: i32) {{\n  {body}\n  return\n}}"


def value_of(compare: str, more: int, arms: list[tuple[str, int]], i: int, n: int) -> int:
    form, const = arms[0 if _HOLDS[compare](n, i + more) else 1]
    return {"n-i": n - i, "i-n": i - n, "i": i + more, "const": 0}[form] + const


@pytest.mark.parametrize("seed", sampled(range(60)))
def test_no_run_leaves_the_bounds(seed):
    rng = random.Random(seed)
    compare, more = rng.choice(sorted(_HOLDS)), rng.randint(-9, 9)
    arms = [(rng.choice(("n-i", "n-i", "i-n", "i", "const")), rng.randint(-5, 5)) for _ in range(2)]
    function = parse_function(chosen(compare, more, arms))
    (select,) = (op for op in walk(function.body) if op.opcode == "select")
    forms = AffineForms(function)
    low, high = forms.bounds(forms.exact(select.result, True))
    for i in range(-30, 31):
        for n in range(-30, 31):
            assert low <= value_of(compare, more, arms, i, n) <= high


def test_a_chunk_is_no_longer_than_the_buffer():
    function = parse_function(chosen("slt", 64, [("n-i", 0), ("const", 64)]))
    (select,) = (op for op in walk(function.body) if op.opcode == "select")
    forms = AffineForms(function)
    assert forms.bounds(forms.exact(select.result, True))[1] == 64


@pytest.mark.parametrize(
    "chunk, condition",
    [
        ("int c = 256; if (i + 256 > n) c = n - i;", "j < c"),
        ("int c = min(256, n - i);", "j < c"),
        ("", "j < 256 && i + j < n"),
    ],
)
def test_chunks_in_place_follow_each_other(chunk, condition):
    """No chunk waits for the one before: its elements are others, and the buffer has copies."""
    text = f"""__kernel __attribute__((task)) void k(__global int *a, int n) {{
        local int b[256];
        for (int i = 0; i < n; i += 256) {{ {chunk}
            for (int j = 0; {condition}; j++) b[j] = a[i + j];
            for (int j = 0; {condition}; j++) {{ b[j] = b[j] + 3; a[i + j] = b[j]; }} }} }}"""
    _, found = plan_module(parse_source(text, "k.cl", {}, []).module, load_board("de5net"), Options())
    assert [str(d.code) for d in found if d.severity == "warning"] == []
