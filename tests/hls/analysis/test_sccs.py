"""Recurrences of a loop: the strongly connected components of its values."""

import networkx as nx
import pytest

import hls
from hls.analysis.loops.sccs import components
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.passes.run_stages import link_program

HEAD = "__kernel void k(__global const int *restrict a, __global int *restrict o, int n)\n"


def loops(body):
    module = link_program(parse_source(f"{HEAD}{{\n{body}\n}}\n").module)
    (kernel,), _ = plan_module(module, hls.load_board("de5net"), hls.Options())
    return [op for op in walk(kernel.function.body) if op.opcode == "loop"]


def dependent_on_themselves(region):
    """By the definition: sets of values that reach each other, a carried value its argument included."""
    follows = nx.DiGraph(zip(region.terminator.operands[1:], region.args, strict=True))
    for op in region.ops:
        inside = [each for nested in op.regions for each in walk(nested)]
        follows.add_edges_from((v, r) for each in (op, *inside) for v in each.operands for r in op.results)
    reached = {v: nx.descendants(follows, v) for v in follows}
    on_cycle = [v for v in follows if any(v in reached[w] or v is w for w in follows.successors(v))]
    return {frozenset(w for w in on_cycle if w is v or w in reached[v] and v in reached[w]) for v in on_cycle}


@pytest.mark.parametrize(
    "body, recurrences",
    [
        ("for (int i = 0; i < n; i++) o[i] = a[i] * 3;", 1),
        ("int s = 0, t = 1;\nfor (int i = 0; i < n; i++) { s = s * 5 + a[i]; t = (t ^ s) * 3; }\no[0] = s + t;", 3),
        (
            "int s = 0, t = 1;\nfor (int i = 0; i < n; i++) { int u = s; s = t * 3 + a[i]; t = u ^ i; }\no[0] = s + t;",
            2,
        ),
        ("int s = 1;\nfor (int i = 0; i < n; i++) for (int j = 0; j < s; j++) s = s * 3 + a[j];\no[0] = s;", 2),
    ],
)
def test_values_of_one_recurrence_are_together(body, recurrences):
    outer = loops(body)[0].regions[0]
    found = {}
    for value, number in components(outer).items():
        found.setdefault(number, set()).add(value)
    parts = {frozenset(part) for part in found.values()}
    # a value that is its own next one is a component by itself
    assert parts == {part for part in dependent_on_themselves(outer) if len(part) > 1}
    assert len(parts) >= recurrences


def test_statements_beside_recurrences_are_not_searched(monkeypatch):
    sizes = []
    search = nx.strongly_connected_components

    def counted(graph):
        sizes.append(len(graph))
        return search(graph)

    monkeypatch.setattr(nx, "strongly_connected_components", counted)

    def searched(statements):
        text = "".join(f"x = (x ^ {k * 7919}) + (x >> {k % 13}) * 5;" for k in range(statements))
        (loop,) = loops(f"for (int i = 0; i < n; i++) {{ int x = a[i]; {text} o[i] = x; }}")
        sizes.clear()
        components(loop.regions[0])
        return sizes[0]

    assert searched(4) == searched(16)
