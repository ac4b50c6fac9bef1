"""The latency chosen for a part at a clock period."""

import pytest

from rtl_lib.arith.catalog import PARTS, PeriodTooShort, choose, latency_for
from rtl_lib.arith.divide import DivParams
from rtl_lib.arith.multiply import MulParams
from rtl_lib.fp.add import AddParams
from rtl_lib.fp.compare import CompareParams
from rtl_lib.fp.convert import ConvertParams
from rtl_lib.fp.format import BINARY32, BINARY64
from rtl_lib.fp.integral import IntegralParams
from rtl_lib.fp.multiply import FloatMulParams
from rtl_lib.fp.resize import ResizeParams
from rtl_lib.fp.sum import FloatSumParams

TYPICAL = {
    "fadd": AddParams(),
    "fmul": FloatMulParams(),
    "fdiv": BINARY32,
    "fsqrt": BINARY32,
    "fcmp": CompareParams("olt"),
    "itof": ConvertParams(32, True),
    "ftoi": ConvertParams(32, True),
    "imul": MulParams(32, 32, 32),
    "idivrem": DivParams(32, True),
    "fma": FloatMulParams(),
    "fsum": FloatSumParams(("+*", "+*", "-*", "+")),
    "fintegral": IntegralParams("down"),
    "fresize": ResizeParams(BINARY64, BINARY32),
}
LEVEL_NS, OVERHEAD_NS = 0.55, 0.5  # about a Stratix V


def test_every_part_is_listed_under_its_kind():
    assert set(PARTS) == set(TYPICAL)
    assert all(part.kind == kind for kind, part in PARTS.items())


@pytest.mark.parametrize("kind", TYPICAL)
@pytest.mark.parametrize("period_ns", [3.4, 4.17, 8.0])
def test_choice_fits_and_nothing_less_does(kind, period_ns):
    part, params = PARTS[kind], TYPICAL[kind]
    choice = choose(part, params, period_ns, LEVEL_NS, OVERHEAD_NS)
    depths = [level * LEVEL_NS for level in part.segments(params, choice.latency)]
    assert len(depths) == choice.latency + 1
    assert max(depths) == pytest.approx(choice.deepest_ns) and choice.deepest_ns + OVERHEAD_NS <= period_ns + 1e-9
    assert choice.delay_ns == pytest.approx(depths[0])
    assert choice.out_delay_ns == pytest.approx(depths[-1] if choice.latency else 0.0)
    if choice.latency:
        assert max(part.segments(params, choice.latency - 1)) * LEVEL_NS + OVERHEAD_NS > period_ns


def test_latencies_at_240_mhz_are_those_of_a_good_library():
    latency = {kind: latency_for(PARTS[kind], params, 1000 / 240, LEVEL_NS) for kind, params in TYPICAL.items()}
    assert latency["fadd"] <= 7 and latency["fmul"] <= 5 and latency["imul"] <= 3 and latency["fcmp"] <= 1
    assert latency["fdiv"] <= 24 and latency["idivrem"] <= 24


def test_a_clock_too_fast_for_a_step_names_the_step():
    with pytest.raises(PeriodTooShort, match="imul: step product alone takes .* ns, the clock period is 2.00 ns"):
        latency_for(PARTS["imul"], TYPICAL["imul"], 2.0, LEVEL_NS)
