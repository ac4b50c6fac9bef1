"""What the answers of a hazard unit that finds stores in flight change in the record of a run.

The emulator has every store in memory at once: its record says that every load reads memory, and no slot of a store. So
the replay completes the rows as it comes to know which stores are in flight.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ...ir import Attr, Op, Value, predicate
from .refused import NotReplayed

__all__ = ["Answer", "answers_of"]


@dataclass
class Answer:
    """``loads`` are the columns of loads that a hit makes needless, ``slots`` those of places that are the answer's
    slot."""

    loads: list[int] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)


def answers_of(hazard: Op, rows: Sequence[Op], columns: Mapping[Op, int]) -> list[Answer]:
    """For each answer of the unit (of each access and each store that it asks for; then of each store), what it
    changes; nothing if the hazard only waits. ``rows`` are the recorded operations. Raises NotReplayed."""
    if Attr.FINDS not in hazard.attrs:
        return []
    count = sum(map(len, hazard.attrs[Attr.ASKS]))
    results = hazard.results[1:]
    answers = [Answer() for _ in range(len(results) - count)]
    hits, slots = results[: 2 * count : 2], [*results[1 : 2 * count : 2], *results[2 * count :]]
    for op in rows:
        if op.opcode == "load":
            for number in _reached(predicate(op), hits):
                answers[number].loads.append(columns[op])
        elif op.opcode == "hazard" and Attr.UNTIL_PUSHED in op.attrs:
            _note_slots(op, slots, answers, columns[op])
    return answers


def _note_slots(op: Op, slots: Sequence[Value], answers: list[Answer], first: int) -> None:
    """Each place that the operation compares is a slot of an answer."""
    places = op.operands[: 2 * (len(op.attrs[Attr.ASKS]) + len(op.attrs[Attr.CERTAIN])) : 2]
    for k, place in enumerate(places):
        if place not in slots:
            if any(one in slots for one in places):
                raise NotReplayed("stores in slots that are computed", op.span)
            return
        answers[slots.index(place)].slots.append(first + k)


def _reached(value: Value, hits: Collection[Value]) -> set[int]:
    """The numbers of those of ``hits`` on which a predicate depends."""
    found, seen, work = set[int](), set[Value](), [value]
    while work:
        one = work.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in hits:
            found.add(list(hits).index(one))
        elif one.op is not None and one.op.opcode not in ("load", "loop", "hazard"):
            work += one.op.operands
    return found
