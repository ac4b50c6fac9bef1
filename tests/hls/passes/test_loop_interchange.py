"""Interchanged nests compute the same, and nests that would not stay as they are."""

import random

import numpy as np
import pytest
from merging import loops, outcome, passes_through

from hls.frontend import parse_source
from hls.ir import Attr, walk
from hls.ir.verifier import verify
from hls.passes.loops import interchange_loops
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions
from tests.kernels.system import Launch

ARGS = "__global int *restrict a, __global int *restrict b, __global const int *restrict c, int n"


def ask(loop) -> None:
    loop.attrs[Attr.LOOP_INTERCHANGE] = True


def interchanged(text: str, seed: int = 0, to_the_end: bool = False) -> int:
    """How many nests of the kernel are interchanged; behind the pass, or behind all passes, its bytes are the same."""
    module, after = to_the_end_of(text) if to_the_end else until_interchange(text)
    rng = np.random.default_rng(seed)
    for n in (0, 1, 2, 9):
        launch = Launch({name: rng.integers(-9, 99, 64).astype(np.int32) for name in "abc"}, {"n": n})
        assert outcome(after, launch) == outcome(module, launch), (text, n)
    return sum(1 for op in walk(after.body) if op.attrs.get(Attr.INTERCHANGED))


def until_interchange(text: str):
    """The module of the source, with all loops to be interchanged, and its kernel after the pass."""
    module = parse_source(text, "k.cl", {}, []).module
    for op in walk(module.kernels[0].body):
        if op.opcode == "loop":
            ask(op)
    (function,) = module.kernels
    for each in kernel_passes(PipelineOptions()):
        function = each.run(function)
        if each.name == "interchange-loops":
            verify(function)
            return module, function
    raise AssertionError("no such pass")


def to_the_end_of(text: str):
    """The same after all passes."""
    module, _, _, last = passes_through(text, "interchange-loops", mark=ask)
    return module, last


def kernel(body: str) -> str:
    return f"__kernel void k({ARGS}) {{ {body} }}"


UP = ("int i = 0; i < n; i++", "int j = 0; j < i; j++")
DOWN = ("int i = n - 1; i >= 0; i--", "int j = n - 1; j > i; j--")
UNSIGNED = ("uint i = 2; i < (uint)n; i++", "uint j = 2; j < i; j++")
BY_THREE = ("int i = 1; i < n; i += 3", "int j = 1; j < i; j += 3")


@pytest.mark.parametrize(("outer", "inner"), [UP, DOWN, UNSIGNED, BY_THREE])
def test_solvers(outer, inner):
    nest = f"for ({outer}) {{ a[i] = b[i]; for ({inner}) a[i] -= c[i + j] * a[j]; a[i] ^= c[i]; }}"
    assert interchanged(kernel(nest), to_the_end=True) == 1


@pytest.mark.parametrize(
    "rows",
    [
        "int s = b[i]; for (int j = 0; j < i; j++) s -= c[i + j] * a[j]; a[i] = s ^ c[i];",
        "int s = 0; for (int j = 0; j < i; j++) if (c[j] & 1) s = 3 * s - a[j]; a[i] = s;",
        "int s = 5, t = n; for (int j = 0; j < i; j++) { t ^= s; s += a[j]; } a[i] = s - t; b[i] = t;",
    ],
)
def test_sums_are_kept_in_the_elements_that_are_stored_behind_them(rows):
    assert interchanged(kernel(f"for (int i = 0; i < n; i++) {{ {rows} }}"), to_the_end=True) == 1


@pytest.mark.parametrize(
    "nest",
    [
        "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) a[i] -= a[j + 1]; a[i] ^= 3; }",  # incomplete
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[i + 1] ^= a[i] + j;",  # of the row before
        "for (int i = 1; i < n; i++) { a[i] = a[i - 1]; for (int j = 1; j < i; j++) a[i] += a[j]; }",  # begins late
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[0] = a[0] * 3 + c[i] - j;",  # all orders count
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i] += b[j];",  # not triangular
        "for (int i = 0; i < n; i++) for (int j = 1; j < i; j++) a[i] += b[j];",
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j += 2) a[i] += b[j];",
        "for (int i = 0; i < n; i++) { int s = a[i]; for (int j = 0; j < i; j++) s += b[j]; if (c[i]) a[i] = s; }",
        "for (int i = 0; i < n; i++) { int s = b[i]; for (int j = 0; j < i; j++) s += a[i] + j; a[i] = s; }",  # old one
        "for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < i; j++) s += c[j]; a[i] = s - a[i]; }",
        "int s = 0; for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) s += a[j]; a[i] = s; }",  # goes on
        "for (int i = 0; i < n && c[i] > 0; i++) for (int j = 0; j < i; j++) a[i] += b[j];",  # loaded control
        "for (int i = 0; i < n; i++) { int s = a[i]; for (int j = 0; j < i; j++) b[i] += c[j]; a[i] = s + 1; }",
        "for (int i = 0; i < n; i++) { int s = a[i]; for (int j = 0; j < i; j++) b[i] += s; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) for (int l = 0; l < 9; l++) a[i] += b[j];",
        "for (uint i = n; i != 0; i--) for (uint j = n; j < i; j--) a[i] += b[j];",  # may wrap around
    ],
)
def test_other_nests_stay(nest):
    assert interchanged(kernel(nest)) == 0


def test_buffers_that_may_overlap_stay():
    """The host may pass one buffer for both; and a volatile one, which others may read meanwhile."""
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[i] += b[j] + 1;"
    assert interchanged(kernel(nest)) == 1
    assert interchanged(kernel(nest).replace("*restrict a", "*a").replace("*restrict b", "*b")) == 0
    assert interchanged(kernel(nest).replace("__global int *restrict a", "volatile __global int *restrict a")) == 0


def random_nest(rng) -> str:
    """A triangular nest whose statements touch elements at sums of its counters."""
    outer, inner = rng.choice([UP, UP, DOWN, BY_THREE])

    def place(counters: str) -> str:
        terms = [rng.choice(["", "2 * "]) + rng.choice(counters)] + rng.choice([[], [], ["1"], ["3"], [counters[-1]]])
        return f"[{' + '.join(terms)}]"

    def statements(counters: str, most: int) -> str:
        found = []
        for _ in range(rng.randint(0, most)):
            guard = rng.choice(["", "", "", f"if (c{place(counters)} & 1) "])
            target, value = rng.choice("aaab"), rng.choice("aabc")
            found.append(f"{guard}{target}{place(counters)} {rng.choice(['=', '-=', '^='])} {value}{place(counters)};")
        return " ".join(found)

    ahead, inside, behind = statements("i", 2), statements("ij", 2), statements("i", 2)
    if rng.random() < 0.5:  # a value is carried
        ahead = f"{ahead} int s = {rng.choice('abc')}{place('i')};"
        inside = f"{inside} s {rng.choice(['+=', '^='])} {rng.choice('aabc')}{place('ij')};"
        behind = f"{statements('i', 1)} {rng.choice('ab')}{place('i')} = s + 1; {statements('i', 1)}"
    return f"for ({outer}) {{ {ahead} for ({inner}) {{ {inside} }} {behind} }}"


@pytest.mark.parametrize("seed", range(3))
def test_random_nests(seed):
    """Whatever is interchanged means what it did; a good part of it is."""
    rng = random.Random(seed)
    assert sum(interchanged(kernel(random_nest(rng)), seed) for _ in range(30)) >= 2


def test_random_nests_tell_orders_apart(monkeypatch):
    """Without the test of order, they would not all mean what they did."""
    monkeypatch.setattr(interchange_loops, "_keeps_order", lambda *_: True)
    rng = random.Random(0)
    with pytest.raises(AssertionError):
        for _ in range(30):
            interchanged(kernel(random_nest(rng)))


def test_what_stands_in_front_is_a_loop_of_its_own():
    nest = "for (int i = 0; i < n; i++) { a[i] = b[i]; for (int j = 0; j < i; j++) a[i] -= a[j]; }"
    records = []
    _, _, after, _ = passes_through(kernel(nest), "interchange-loops", records.append, mark=ask)
    assert loops(after) == 3 and [(one.how, one.into.column) for one in records if hasattr(one, "how")] == [
        ("split", kernel(nest).index("for") + 1)
    ]
