"""The checks of analyses against runs detect a wrong result."""

import pytest

from hls.analysis.bits.intervals import Range
from hls.analysis.induction.periodic import PeriodicSequence
from hls.analysis.induction.trip_count import Trips
from tests.ir import observed
from tests.ir.case import ANALYSES, answered, read_case


class _Says:
    """An analysis whose every method gives one answer."""

    def __init__(self, **answers):
        self.answers = answers

    def __call__(self, *arguments):
        return self

    def __getattr__(self, name):
        return lambda *arguments: self.answers[name]


class _Still:
    """Sequences that never change."""

    def __init__(self, tree):
        self.tree = tree

    def of(self, value, is_signed):
        loop = self.tree.changing(value)
        return loop and PeriodicSequence(loop, 0, (), 0, 0)


class _Shifted(observed.AffineForms):
    """Offsets that are one byte too large."""

    def offset(self, access):
        form = super().offset(access)
        return type(form)(form.const + 1, form.terms)


WRONG = {
    "ranges/counter": ("ranges", lambda function: {v: Range.exact(0, v.type.bits) for v in function.args}),
    "known_bits/odd_start": ("TrailingZeros", _Says(of=3)),
    "possible_values/choices": ("PossibleValues", _Says(of=frozenset({77}))),
    "affine/counters": ("AffineForms", _Shifted),
    "trip_count/break": ("count_trips", lambda loop: Trips(1, True)),
    "implication/break": ("implied", lambda condition: dict.fromkeys(condition.op.operands, False)),
    "facts/order": ("Facts", _Says(where=_Says(decided=False))),
    "counted/up_and_down": ("trips_of_counter", lambda loop, again, counter: 9),
    "state_space/bits": ("most_iterations", lambda loop: 0),
    "bounded_step/filter": ("pace", lambda arg, loop, known: (1, 1)),
    "periodic/wheel": ("PeriodicSequences", _Still),
    "dependence/distance": ("dependences", lambda function, bits: ()),
    "monotonic/goes_back": ("MonotonicAccess", _Says(apart=True)),
}


@pytest.mark.parametrize("path", WRONG)
def test_a_wrong_answer_is_found(path, monkeypatch):
    case = read_case(ANALYSES / f"{path}.ir")
    assert answered(case)[1] is None
    monkeypatch.setattr(observed, *WRONG[path])
    assert answered(case)[1] is not None


def test_every_check_is_tried():
    assert {path.partition("/")[0] for path in WRONG} == set(observed.CHECKS)


def test_implications_are_held_against_runs(monkeypatch):
    case = read_case(ANALYSES / "implication" / "break.ir")
    monkeypatch.setattr(observed, "never_both", lambda one, other: True)
    assert "is true, and" in answered(case)[1]
