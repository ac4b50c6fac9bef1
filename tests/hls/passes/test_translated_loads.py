"""Loads at addresses where values merge: at a select they take what is loaded at either address, at a loop's header what
the iteration before has loaded."""

from collections.abc import Callable

import numpy as np
import pytest
from test_transforms import compiled, same

from hls.ir import loops_inside_out, memory_name, walk
from hls.passes.memory import carried_loads, redundant_load_elimination

HEAD = "kernel void k(global int *restrict p, global int *restrict o, global const int *restrict q, int n)"
SIFT = (
    "int i = 0; while (2 * i + 1 < n) {{ int c = 2 * i + 1; if (c + 1 < n && p[c + 1] {over} p[c]) c++; {between} "
    "if (p[c] <= v) break; p[i] = p[c]; i = c; }} p[i] = v;"
)


def _inner_loads(function, memory: str) -> int:
    """Loads of a memory in innermost loops."""
    inner = [loop for _, loop in loops_inside_out(function.body) if all(not op.regions for op in loop.regions[0].ops)]
    return sum(op.opcode == "load" and memory_name(op) == memory for loop in inner for op in walk(loop.regions[0]))


def _run(body: str, loads: int) -> None:
    module, function = compiled(f"{HEAD} {{ for (int t = 0; t < 9; t++) {{ int v = q[t]; {body} }} }}")
    assert _inner_loads(function, "p") == loads
    for n in (0, 1, 2, 3, 7, 24):
        rng = np.random.default_rng(n)
        # links that lead downwards end; each leads into the buffer
        links = np.array([rng.integers(0, max(1, k)) for k in range(64)], np.int32)
        buffers = {"p": links, "o": np.zeros(64, np.int32), "q": rng.integers(0, 24, 64).astype(np.int32)}
        same(module, function, buffers, {"n": n})


@pytest.mark.parametrize(
    "body, loads",
    [
        # path halving: the element that the test has loaded, and its parent
        ("int x = v; while (p[x] != x) { p[x] = p[p[x]]; x = p[x]; } o[t] = x;", 2),
        ("int x = v; while (p[x] != x) { p[x] = p[p[x]]; x = p[x]; o[x] = t; } o[t] = x;", 2),
        # something is stored between the test and the next iteration
        ("int x = v; while (p[x] != x) { p[t] = t; p[x] = p[p[x]]; x = p[x]; } o[t] = x;", 3),
        # the test may go on without the element
        ("int x = v, m = p[v]; do { x = p[x]; o[x] = m; } while (x & 1 || p[x] > 3); o[t] = x;", 2),
        # not the element that the test loads
        ("int x = v; while (p[x] != x) { p[x] = p[p[x + 1]]; x = p[x]; } o[t] = x;", 3),
    ],
)
def test_elements_of_the_iteration_before(body, loads):
    _run(body, loads)


@pytest.mark.parametrize(
    "body, loads",
    [
        (SIFT.format(over=">", between=""), 2),
        # the select does not decide whether the first child is loaded: it is not known otherwise
        (SIFT.format(over=">", between="if (v & 1) c = i + n / 2;"), 3),
        # what is stored in between may be the element
        (SIFT.format(over="<", between="p[v] = 2;"), 3),
    ],
)
def test_elements_at_selected_addresses(body, loads):
    _run(body, loads)


def _program(rng: np.random.Generator) -> str:
    """A search in which addresses are selected among those of loads, and elements come from the iteration before."""
    pick: Callable[..., str] = lambda *of: str(rng.choice(of))
    x, y = pick("x", "x & 31", "x >> 1"), pick("x + 1", "x / 2", "x")
    chosen = pick(
        f"int c = p[{x}] {pick('<', '>', '!=')} p[{y}] ? {x} : {y};",
        f"int c = {x}; if ({y} < n && p[{y}] < p[{x}]) c = {y};",
        f"int c = {x}; if (p[{x}] > v) c = p[{y}] > v ? {y} : {pick('x / 3', x)};",
    )
    stored = pick("", "p[x] = p[c];", "if (v & 1) p[c] = p[x];", "o[c] = p[c];", "p[v] = p[c] / 2;")
    step = pick("x = p[c];", "x = p[c] / 2;", "x = v & 2 ? p[p[c]] : p[x];")
    test = pick("p[x] != x", "p[x] != x && p[x] > v", "x > 0 && p[x] > 1", "(x & 1 || p[x] != x)")
    late = pick("", "o[t] = p[x];", "if (p[x] == v) break;")
    return f"int x = v, m = 0; while ({test} && m < 12) {{ {chosen} {stored} {step} {late} m++; }} o[v] = x + m;"


@pytest.mark.parametrize("seed", range(40))
def test_random_searches(seed):
    body = _program(np.random.default_rng(seed))
    module, function = compiled(f"{HEAD} {{ for (int t = 0; t < 9; t++) {{ int v = q[t]; {body} }} }}")
    for n in (1, 5, 24):
        rng = np.random.default_rng(1000 * seed + n)
        links = np.array([rng.integers(0, max(1, k)) for k in range(64)], np.int32)
        buffers = {"p": links, "o": np.zeros(64, np.int32), "q": rng.integers(0, 24, 64).astype(np.int32)}
        same(module, function, buffers, {"n": n})


def test_random_searches_have_the_shapes(monkeypatch):
    """The generator makes programs in which both rules apply, and others."""
    found = {"carried": 0, "selected": 0}

    def carry(self, original=carried_loads.CarriedLoads.carry):
        for each in original(self):
            found["carried"] += 1
            yield each

    def by_select(*given, original=redundant_load_elimination.loads_by_select):
        result = original(*given)
        found["selected"] += result is not None
        return result

    monkeypatch.setattr(carried_loads.CarriedLoads, "carry", carry)
    monkeypatch.setattr(redundant_load_elimination, "loads_by_select", by_select)
    for seed in range(12):
        compiled(f"{HEAD} {{ int v = q[0], t = 0; {_program(np.random.default_rng(seed))} }}")
    assert min(found.values()) > 2, found
