"""Implications of conditions: each part of a condition is visited once, however many conditions share it."""

from hls.analysis.predicates import implication
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.target.board import load_board


def test_a_switch_that_falls_through_takes_time_in_proportion(monkeypatch):
    """With a way for each subset of the cases, 30 of them took minutes."""
    cases, asked = 200, [0]
    original = implication._imply

    def counted(*what):
        asked[0] += 1
        return original(*what)

    monkeypatch.setattr(implication, "_imply", counted)
    text = "".join(f"case {k}: x += {k * k % 97};\n" for k in range(cases))
    source = f"__kernel void k(__global int *restrict a, int n) {{ int x = 0; switch (n) {{ {text} }} a[0] = x; }}"
    plan_module(parse_source(source, "k.cl").module, load_board("de5net"), Options())
    assert 0 < asked[0] < 100 * cases * cases
