"""Why a loop cannot have a smaller initiation interval, in the terms of the problem."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from ...differences import Cycle
from ...narrow import present
from .chaining import longest_chain
from .problem import Problem

__all__ = ["Bottleneck", "Step", "explain_cycle", "explain_resource"]

#: Kinds of constraints between two operations, and how a report names them.
KINDS = {
    "value": "value",
    "order": "order",
    "carried": "value, through a state register",
    "forwarded": "value, past its state register",
    "chain": "combinational chain too long for one cycle",
    "earliest": "fixed earliest cycle",
    "latest": "fixed latest cycle",
    "group": "starts in the same cycle",
}


@dataclass(frozen=True)
class Step:
    """One edge of a critical cycle.

    ``cycles`` is what it adds to the cycle, ``latency`` of them inside ``src``; ``distance`` the iterations it spans;
    ``chain`` the operations of a chain that needs a register, each with its ns (empty for other kinds). ``src`` or
    ``dst`` None is the start of the iteration.
    """

    src: Hashable | None
    dst: Hashable | None
    kind: str
    cycles: int
    latency: int
    distance: int
    chain: tuple[tuple[Hashable, float], ...] = ()


@dataclass(frozen=True)
class Bottleneck:
    """What forces the II to at least ``ii`` (None: no II is possible).

    ``kind`` is "recurrence" (a cycle of ``steps`` that takes ``cycles`` over ``distance`` iterations), "bounds" (the
    same with distance 0) or "resource" (``uses`` uses of ``resource`` share ``limit`` per cycle; an ``ii`` larger than
    their quotient means that recurrences leave no room for them).
    """

    kind: str
    ii: int | None
    steps: tuple[Step, ...] = ()
    cycles: int = 0
    distance: int = 0
    resource: Hashable | None = None
    uses: int = 0
    limit: int = 0

    def shares(self) -> dict[Hashable, float]:
        """Cycles of the critical cycle by operation; they sum to ``cycles``.

        An operation has its latency. The cycle of a register inside a chain is divided among the chain's operations in
        proportion to their ns; any other cycle between two operations counts for the first.
        """
        shares: dict[Hashable, float] = {}
        for step in self.steps:
            shares[step.src] = shares.get(step.src, 0.0) + step.latency
            between, total = step.cycles - step.latency, sum(ns for _, ns in step.chain)
            for key, ns in step.chain or ((step.src, 1.0),):
                shares[key] = shares.get(key, 0.0) + (between * ns / total if step.chain else between)
        return {key: share for key, share in shares.items() if share}

    def describe(self, name: Callable[[Hashable], str] = str) -> str:
        """A few lines of text; ``name`` renders an operation's key."""
        if self.kind == "resource":
            head = f"II >= {self.ii}: {self.uses} uses of {self.resource}, {self.limit} in a cycle"
            return (
                head
                if present(self.ii) * self.limit < self.uses + self.limit
                else head + ", and recurrences between them"
            )
        if self.ii is None:
            head = f"no II is possible: a cycle of constraints takes {self.cycles} cycles within one iteration"
        else:
            head = f"II >= {self.ii}: a recurrence takes {self.cycles} cycles over {self.distance} iteration(s)"
        return "\n".join([head, *(f"  {_line(step, name)}" for step in self.steps)])


def _line(step: Step, name) -> str:
    src, dst = ("the iteration's start" if key is None else name(key) for key in (step.src, step.dst))
    text = f"{src} -> {dst}: {step.cycles} cycle(s), {KINDS[step.kind]}"
    if step.distance:
        text += f", to {step.distance} iteration(s) later"
    if step.chain:
        text += ": " + " + ".join(f"{name(key)} {ns:.2f} ns" for key, ns in step.chain)
    return text


def explain_cycle(problem: Problem, cycle: Cycle) -> Bottleneck:
    """The bottleneck that a critical cycle of the problem's constraints represents."""
    keys = [operation.key for operation in problem.operations] + [None]
    steps = []
    for constraint in cycle.constraints:
        src, dst = keys[constraint.src], keys[constraint.dst]
        latency = (
            problem.by_key[src].latency if constraint.kind in ("value", "order", "carried", "forwarded", "chain") else 0
        )
        chain = longest_chain(problem, src, dst) if constraint.kind == "chain" else ()
        steps.append(
            Step(
                src=src,
                dst=dst,
                kind=constraint.kind,
                cycles=constraint.cycles,
                latency=latency,
                distance=constraint.distance,
                chain=chain,
            )
        )
    kind = "recurrence" if cycle.distance else "bounds"
    return Bottleneck(kind, cycle.bound, tuple(steps), cycle.cycles, cycle.distance)


def explain_resource(problem: Problem, resource: Hashable, uses: int, ii: int) -> Bottleneck:
    """The bottleneck of a shared resource."""
    return Bottleneck("resource", ii, resource=resource, uses=uses, limit=problem.limits[resource])
