"""Advice: steps until nothing is gained or fits, each the largest gain, with the reasons for the others."""

from dataclasses import replace

import pytest

from hls.target.board import load_board
from hls.tune import Area, Goal, Knob, Point, Problem, Tuning
from hls.tune.advice_text import advice_text
from hls.tune.advise import LEAST_GAIN, advise
from hls.tune.knobs import relaxed_knob
from hls.tune.points import Limit, Sketch
from hls.tune.space import Constraint

KNOBS = (
    Knob("unroll i@1", "unroll", None, (None, 2, 4)),
    Knob("unroll k@2", "unroll", None, (None, 2, 4, 8)),
    Knob("cache bytes", "cache_bytes", None, (None, 4096)),
)
KNOBS_BY_NAME = {one.name: one for one in KNOBS}


class Formulas:
    """k is worth its factor, i a third of it, the cache 1 %; area is the product, of 16."""

    def __init__(self, problems=()):
        self.problems = set(problems)

    def bound_area(self, base, fit):
        pass

    def estimate(self, values):
        point = Point.of(values)
        for knob in point.knobs:
            if knob in self.problems:
                return Point(point.knobs, problem=Problem("E0302", "not a loop"))
        i, k = values["unroll i@1"] or 1, values["unroll k@2"] or 1
        cache = 0.99 if values["cache bytes"] else 1
        return Point(point.knobs, 0.0, 9000 * cache / k / (1 + (i - 1) / 3), 1.0)

    def count(self, point):
        values = dict(point.knobs)
        used = values.get("unroll i@1", 1) * values.get("unroll k@2", 1)
        return Point(point.knobs, point.least, point.cycles, point.seconds, Area(used, 0, 0, 0, used / 16))

    def limits(self, point):
        """As long as k is as written, the sum holds the loop."""
        held = 0.02 if "unroll k@2" in dict(point.knobs) else 0.6
        return Limit("dot", "issued", None, 1 - held), Limit("dot", "recurrence of loop k", 2, held)

    def sketches(self, point):
        """One that is worth its work, and one that is not."""
        return (
            Sketch("dot", "order of accesses: a by neighbours", 3, "for (;;)  // now inside\n    a[...]", 700.0, 0.4),
            Sketch("dot", "local memory: a copy of b on the chip", 3, "int b_near[4];", 1115.0, 0.01),
            Sketch("dot", "local memory: a copy of c on the chip", 4, "int c_near[4];", 600.0, 0.5, COPY),
            Sketch("dot", "local memory: a copy of d on the chip", 5, "int d_near[4];", 500.0, 0.6, TOO_LARGE),
        )


COPY, TOO_LARGE = Area(0, 0, 12, 0, 0.01), Area(0, 0, 2500, 0, 0.84)


def advised(fit=0.85, problems=(), constraints=()):
    return advise(Tuning(KNOBS, tuple(map(Constraint, constraints)), Goal("cycles"), 1, fit, 0), Formulas(problems))


def test_each_step_is_the_largest_gain_that_fits():
    found = advised()
    assert [(one.knob, one.value) for one in found.steps] == [("unroll k@2", 8)]
    assert found.end == "nothing that saves 5% of the cycles fits 85% of the device"
    assert found.others[0].knob == "unroll i@1" and "200% of a resource" in found.others[0].why
    assert found.last.cycles == 9000 / 8


def test_steps_go_on_while_there_is_room():
    found = advised(fit=4.0)
    assert [(one.knob, one.value) for one in found.steps] == [("unroll k@2", 8), ("unroll i@1", 4)]
    assert found.end == "no single change saves 5% of the cycles"
    cache = next(one for one in found.others if one.knob == "cache bytes")
    assert 0 < cache.save < LEAST_GAIN


def test_what_cannot_be_built_is_told_and_not_chosen():
    found = advised(problems=[("unroll k@2", 8)])
    assert [(one.knob, one.value) for one in found.steps] == [("unroll k@2", 4), ("unroll i@1", 2)]


def test_constraints_hold_in_each_step():
    assert [(one.knob, one.value) for one in advised(constraints=["k < 8"], fit=4.0).steps] == [
        ("unroll k@2", 4),
        ("unroll i@1", 4),
    ]


def test_a_program_without_an_estimate_has_no_advice():
    class Refused(Formulas):
        def estimate(self, values):
            return Point((), problem=Problem("", "the estimate does not cover a barrier at line 3"))

    tuning = Tuning(KNOBS, (), Goal("cycles"), 1, 0.85, 0)
    found = advise(tuning, Refused())
    assert not found.steps and found.end == "the estimate does not cover a barrier at line 3"


RELAXED = relaxed_knob()


@pytest.mark.parametrize(
    ("factor", "fit", "told"), [(0.4, 4.0, ["60% of the cycles"]), (0.97, 4.0, []), (None, 4.0, []), (0.4, 0.01, [])]
)
def test_an_order_of_additions_that_is_not_allowed_is_named_where_it_saves_enough_and_fits(factor, fit, told):
    class Floats(Formulas):
        def estimate(self, values):
            point = super().estimate({**values, RELAXED.name: None})
            if values.get(RELAXED.name) is None:
                return point
            refused = Problem("E0302", "no") if factor is None else None
            return replace(point, cycles=point.cycles * (factor or 0.1), problem=refused)

    found = advise(Tuning(KNOBS, (), Goal("cycles"), 1, fit, 0, withheld=(RELAXED,)), Floats())
    assert RELAXED.name not in dict(found.last.knobs)
    text = advice_text(found, load_board("de5net"), KNOBS_BY_NAME)
    lines = [line for line in text.splitlines() if line.startswith("not allowed: -fp-relaxed")]
    assert len(lines) == len(told) and all(part in line for part, line in zip(told, lines))


def test_the_text_has_every_step_and_the_sum():
    text = advice_text(advised(fit=4.0), load_board("de5net"), KNOBS_BY_NAME)
    assert "1. unroll k@2 = 8: 1,125 cycles predicted, 8 ALMs (50% of the device), 8.00 times as fast" in text
    assert "2. unroll i@1 = 4" in text and "not cache bytes = 4096: saves too little (1.0% of the cycles)" in text
    assert text.endswith("all steps: 9,000 -> 562 cycles, 16.00 times as fast as written")


def test_the_end_tells_what_the_cycles_are_spent_with():
    after, written = (advice_text(advised(fit), load_board("de5net"), KNOBS_BY_NAME) for fit in (0.85, 0.01))
    assert "what the cycles are spent with after all steps: 98% issued (dot)\n" in after
    assert "what the cycles are spent with: 40% issued (dot); 60% recurrence of loop k (dot, line 2)" in written


def test_changes_by_hand_are_sketched_where_they_gain():
    text = advice_text(advised(), load_board("de5net"), KNOBS_BY_NAME)
    head = "by hand, order of accesses: a by neighbours (dot, line 3): 700 cycles predicted at best, 40% less"
    assert f"{head}\n     for (;;)  // now inside\n         a[...]\n" in text
    assert "b_near" not in text


def test_changes_by_hand_must_fit_beside_the_design():
    """What they add is told, and counts."""
    text = advice_text(advised(), load_board("de5net"), KNOBS_BY_NAME)
    assert (
        "600 cycles predicted at best, 50% less, for about 0 ALMs and 12 block RAMs more\n     int c_near[4];" in text
    )
    assert "d_near" not in text


def test_more_copies_are_tried_while_they_save_more():
    """Planning 64 copies takes minutes: with two numbers of copies in a row in vain, no greater one is planned."""
    tried = []

    class Bounded(Formulas):
        """Saves up to 4 copies of k, and with 16 copies of i."""

        def estimate(self, values):
            tried.append((values["unroll i@1"], values["unroll k@2"]))
            i, k = values["unroll i@1"] or 1, values["unroll k@2"] or 1
            return Point(Point.of(values).knobs, i * k / 100, 9000 / min(4, k) / (2 if i == 16 else 1), 1.0)

    factors = (None, 2, 4, 8, 16, 32, 64)
    knobs = tuple(Knob(name, "unroll", None, factors) for name in ("unroll i@1", "unroll k@2"))
    defines = (Knob("cache bytes", "cache_bytes", None, (None, 1, 2, 3)),)
    found = advise(Tuning(knobs + defines, (), Goal("cycles"), 1, 9.0, 0), Bounded())
    assert [(one.knob, one.value) for one in found.steps] == [("unroll k@2", 4)]
    assert {k or 1 for _, k in tried} == {1, 2, 4, 8, 16} and {i or 1 for i, _ in tried} == {1, 2, 4}


def test_of_changes_that_save_the_same_the_smallest_is_made():
    """A cache of 2 banks and a split save the same cycles; the cache is predicted a little faster, and twice as large."""

    class Equal(Formulas):
        def estimate(self, values):
            saved = 2.001 if values["cache bytes"] else 2 if values["unroll i@1"] else 1
            return Point(Point.of(values).knobs, 0.0, 9000 / saved, 1.0)

        def count(self, point):
            used = 2 + sum(4 if name == "cache bytes" else 2 for name, _ in point.knobs)
            return Point(point.knobs, point.least, point.cycles, point.seconds, Area(used, 0, 0, 0, used / 16))

    found = advise(Tuning(KNOBS, (), Goal("cycles"), 1, 0.85, 0), Equal())
    assert [(one.knob, one.value) for one in found.steps] == [("unroll i@1", 2)]
    assert any(one.knob == "cache bytes" and one.save > 0.5 for one in found.steps[0].others)
