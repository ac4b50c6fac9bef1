"""The proofs that take seconds, and that each of them detects a broken part; ``python -m tests.formal`` runs the
others, too."""

import pytest
from amaranth import Signal

from tests.formal import solve
from tests.formal.bench import Bench
from tests.formal.broken import BREAKS
from tests.formal.circuit import circuit_of
from tests.formal.proofs import PROOFS, prove

QUICK = [name for name, proof in PROOFS.items() if proof.quick]
SAMPLE = list({broken.proof: broken for broken in BREAKS if broken.proof in QUICK}.values())  # one of each


@pytest.mark.parametrize("name", QUICK)
def test_holds(name):
    verdict = prove(PROOFS[name])
    assert verdict.holds, verdict


@pytest.mark.parametrize("broken", SAMPLE, ids=lambda broken: broken.proof)
def test_a_broken_part_is_noticed(broken):
    with broken.done():
        assert solve.bounded(circuit_of(PROOFS[broken.proof].bench()), PROOFS[broken.proof].depth)


def test_each_part_is_broken_once():
    assert {broken.proof for broken in BREAKS} == set(PROOFS)


def _counter(bench):
    """It counts to two where an input says so, and starts again."""
    count, moves = Signal(3), bench.free(name="moves")
    with bench.m.If(moves):
        bench.m.d.sync += count.eq(count + 1)
    with bench.m.If(count == 2):
        bench.m.d.sync += count.eq(0)
    return count, moves


def _circuit(claims):
    bench = Bench()
    claims(bench, *_counter(bench))
    return circuit_of(bench)


def test_a_true_claim_holds():
    circuit = _circuit(lambda bench, count, _: bench.check(count <= 2, "it turns round after two"))
    assert solve.bounded(circuit, 8) is None and solve.inductive(circuit, 1) is None


def test_a_false_claim_fails_as_soon_as_it_can():
    failure = solve.bounded(_circuit(lambda bench, count, _: bench.check(count != 2, "it never is two")), 8)
    assert (failure.checks, failure.cycle) == (("it never is two",), 2)
    assert all(any(name.startswith("moves") for name in inputs) for inputs in failure.inputs[:2])


def test_what_other_states_break_is_not_inductive():
    """Five follows four, from which nothing starts: with one more claim it holds for ever."""
    circuit = _circuit(lambda bench, count, _: bench.check(count != 5, "it never is five"))
    assert solve.bounded(circuit, 8) is None and solve.inductive(circuit, 1).checks == ("it never is five",)


def test_assumptions_hold_in_every_cycle():
    def claims(bench, count, moves):
        bench.assume(~moves | (count == 0), "it moves from zero only")
        bench.check(count != 2, "it never is two")

    assert solve.bounded(_circuit(claims), 8) is None


def test_what_cannot_happen_is_told():
    def claims(bench, count, _):
        bench.reach(count == 2, "two")
        bench.reach(count == 3, "three")

    assert solve.unreached(_circuit(claims), 8) == ["three"]


@pytest.mark.parametrize("broken", BREAKS, ids=lambda one: f"{one.proof}-{one.part.__name__}")
def test_every_break_still_finds_its_text(broken):
    """A part that was written anew would end the campaign of all breaks."""
    right = vars(broken.part)[broken.method]
    with broken.done():
        assert vars(broken.part)[broken.method] is not right
