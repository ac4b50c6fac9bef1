"""How far unroll counts the iterations of a loop before it decides."""

import pytest

from hls import Options
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.passes.loops import unroll
from hls.target.board import load_board

#: 3000 iterations, which no formula gives: the counter is doubled modulo a prime
TEXT = """__kernel void k(__global int *restrict a, int n) {{
    for (int r = 0; r < n; r++) {{
        {pragma}
        for (uint x = 1, c = 0; c < 3000; x = x * 2 % 3001, c += x > 0) a[r] += x;
    }}
}}"""


@pytest.mark.parametrize(("pragma", "most"), [("", 16), ("#pragma unroll 2", 4096)])
def test_a_long_loop_is_counted_to_its_end_only_if_the_count_is_needed(monkeypatch, pragma, most):
    asked, original = [], unroll.count_trips

    def counted(loop, limit=4096):
        asked.append(limit)
        return original(loop, limit)

    monkeypatch.setattr(unroll, "count_trips", counted)
    plan_module(parse_source(TEXT.format(pragma=pragma), "k.cl", {}, []).module, load_board("de5net"), Options())
    assert max(asked) == most
