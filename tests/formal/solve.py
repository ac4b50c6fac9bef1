"""Bounded proofs, proofs by induction, and reachability, over a circuit that is unrolled cycle by cycle.

The SAT query is about the circuit's first cycles (does a check fail in any of them?) or about consecutive cycles from
an arbitrary state (if all checks held for so many cycles, do they in the next?). The second, with the first as
its base case, holds for ever.
"""

from dataclasses import dataclass

from pysat.solvers import Solver

from tests.formal.bench import ASSUME, CHECK, REACH
from tests.formal.circuit import Circuit

__all__ = ["Failure", "bounded", "inductive", "unreached"]

SOLVER = "cadical195"


@dataclass(frozen=True)
class Failure:
    """Checks that fail, in which cycle, and the inputs that lead there: those that are 1, for each cycle."""

    checks: tuple[str, ...]
    cycle: int
    inputs: tuple[tuple[str, ...], ...]


class _Cycles:
    """Cycles of a circuit in a row, in a solver; assumptions hold in all of them."""

    def __init__(self, circuit: Circuit, from_reset: bool):
        self.circuit, self.cycles = circuit, []
        self.solver, self.count = Solver(SOLVER), 1
        self.solver.add_clause([1])  # variable 1 is true
        self.state = {literal: -1 if from_reset else self._new() for literal, _ in circuit.registers}
        self.gates: dict[tuple[int, int], int] = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.solver.delete()

    def add(self):
        """Append a cycle."""
        values = {0: -1, **self.state, **{literal: self._new() for literal in self.circuit.inputs}}
        for literal, one, other in self.circuit.gates:
            values[literal] = self._and(_value(values, one), _value(values, other))
        self.state = {literal: _value(values, following) for literal, following in self.circuit.registers}
        self.cycles.append(values)
        for name in self.named(ASSUME):
            self.solver.add_clause([self.of(name)])

    def named(self, kind: str):
        """Names of the outputs of a kind."""
        return [name for name in self.circuit.outputs if name.startswith(kind)]

    def of(self, name: str, cycle: int = -1) -> int:
        """The variable of an output in a cycle, the last one by default."""
        return _value(self.cycles[cycle], self.circuit.outputs[name])

    def any_fails(self) -> int:
        """A variable that implies that some check fails in the last cycle."""
        some = self._new()
        self.solver.add_clause([-some, *(-self.of(name) for name in self.named(CHECK))])
        return some

    def failure(self) -> Failure:
        """What the solver has found, with :meth:`any_fails` assumed."""
        true = set(self.solver.get_model())
        failed = tuple(name.removeprefix(CHECK) for name in self.named(CHECK) if self.of(name) not in true)
        names = self.circuit.names
        inputs = tuple(
            tuple(names[literal] for literal in self.circuit.inputs if values[literal] in true and literal in names)
            for values in self.cycles
        )
        return Failure(failed, len(self.cycles) - 1, inputs)

    def _new(self) -> int:
        self.count += 1
        return self.count

    def _and(self, one: int, other: int) -> int:
        if -1 in (one, other) or one == -other:
            return -1
        if one == 1 or one == other:
            return other
        if other == 1:
            return one
        key = (min(one, other), max(one, other))
        if key not in self.gates:
            self.gates[key] = both = self._new()
            self.solver.append_formula([[-both, one], [-both, other], [both, -one, -other]])
        return self.gates[key]


def _value(values: dict[int, int], literal: int) -> int:
    return -values[literal & ~1] if literal & 1 else values[literal]


def bounded(circuit: Circuit, depth: int) -> Failure | None:
    """A failure in the first ``depth`` cycles, if there is one; the earliest."""
    with _Cycles(circuit, from_reset=True) as cycles:
        for _ in range(depth):
            cycles.add()
            if cycles.solver.solve(assumptions=[cycles.any_fails()]):
                return cycles.failure()
            for name in cycles.named(CHECK):
                cycles.solver.add_clause([cycles.of(name)])
    return None


def inductive(circuit: Circuit, steps: int) -> Failure | None:
    """A failure in a cycle after ``steps`` without one, from any state; None if there is none: then no check ever fails
    that does not within the first ``steps`` cycles."""
    with _Cycles(circuit, from_reset=False) as cycles:
        for _ in range(steps):
            cycles.add()
            for name in cycles.named(CHECK):
                cycles.solver.add_clause([cycles.of(name)])
        cycles.add()
        return cycles.failure() if cycles.solver.solve(assumptions=[cycles.any_fails()]) else None


def unreached(circuit: Circuit, depth: int) -> list[str]:
    """What the bench says can happen, and does not within ``depth`` cycles: a proof about nothing shows here."""
    with _Cycles(circuit, from_reset=True) as cycles:
        left = cycles.named(REACH)
        for _ in range(depth):
            cycles.add()
            left = [name for name in left if not cycles.solver.solve(assumptions=[cycles.of(name)])]
            if not left:
                break
        return [name.removeprefix(REACH) for name in left]
