"""How far unroll counts the iterations of a loop before it decides."""

import re

import pytest

from hls import Options
from hls.diag import CompileError
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.limits import Limits
from hls.passes.loops import unroll
from hls.target.board import load_board

#: 3000 iterations, which no formula gives: the counter is doubled modulo a prime
TEXT = """__kernel void k(__global int *restrict a, int n) {{
    for (int r = 0; r < n; r++) {{
        {pragma}
        for (uint x = 1, c = 0; c < 3000; x = x * 2 % 3001, c += x > 0) a[r] += x;
    }}
}}"""


@pytest.mark.parametrize(("pragma", "most"), [("", 64), ("#pragma unroll 2", 4096)])
def test_a_long_loop_is_counted_to_its_end_only_if_the_count_is_needed(monkeypatch, pragma, most):
    asked, original = [], unroll.count_trips

    def counted(loop, limit=4096):
        asked.append(limit)
        return original(loop, limit)

    monkeypatch.setattr(unroll, "count_trips", counted)
    plan_module(parse_source(TEXT.format(pragma=pragma), "k.cl", {}, []).module, load_board("de5net"), Options())
    assert max(asked) == most


@pytest.mark.parametrize(
    ("trips", "inner", "work"),
    [(3000, "", 1), (3000, "\n#pragma unroll\n for (int k = 0; k < 9; k++)", 1), (12, "", 20)],
)
def test_the_factor_that_is_advised_fits(trips, inner, work):
    """Where unrolling a loop entirely makes too many operations; the next power of two would make too many, too."""
    text = (
        "__kernel void k(__global int *o) { int s = o[0];\n#pragma unroll FACTOR\n"
        f"for (int i = 0; i < {trips}; i++) {{ {inner} {{ {'s = s * 7 ^ s >> 3; ' * work} }} }} o[0] = s; }}"
    )
    options = Options(limits=Limits(unrolled=500))

    def planned(factor: str) -> None:
        module = parse_source(text.replace("FACTOR", factor), "k.cl", {}, []).module
        plan_module(module, load_board("ecp5_onchip"), options)

    with pytest.raises(CompileError) as refused:
        planned("")
    hint = re.search(r"#pragma unroll (\d+);", refused.value.diagnostics[0].hint)
    assert hint is not None
    planned(hint[1])
    with pytest.raises(CompileError):
        planned(str(2 * int(hint[1])))
