"""Min/max reduction combining: successive min/max updates of an iteration become one, with the best of their
operands."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

from ...analysis.timing import Recurrence
from ...ir import Builder, Op, Region, Value, uses
from ...narrow import present
from .recurrence_edits import insert_before

__all__ = ["Question", "merge_steps"]


@dataclass(frozen=True)
class Question:
    """Whether ``value``, on a recurrence, is ``above`` the other one, or below; ``strict``, or possibly equal. ``nan``:
    whether a NaN value counts as well. ``kind``: "s" and "u" integers, "f" floats. Without an other value: whether the
    value is a NaN (``nan``), or is not."""

    value: Value
    other: Value | None
    above: bool = False
    strict: bool = False
    nan: bool = False
    kind: str = "f"

    def ask(self, b: Builder) -> Value:
        """Build the comparison."""
        sides = (self.other, self.value) if self.above else (self.value, self.other)
        answer = b.value(self.kind + ("lt" if self.strict else "le"), *sides)
        return b.value("or", answer, b.value("fne", self.value, self.value)) if self.nan else answer


@dataclass(frozen=True)
class _Step:
    """``choice`` selects the other value of ``question`` if that holds and all ``guards`` do, else the value asked
    about; ``inside``: the operations of its condition."""

    choice: Op
    question: Question
    guards: tuple[Value, ...]
    inside: tuple[Op, ...]


def merge_steps(one: Recurrence, questions: Callable[[Recurrence], dict[Op, Question]]) -> None:
    """If ``x = t < x ? t : x`` is followed by the same with u, in the same iteration, compare x once with the lesser of
    t and u. Other values selected by both conditions, such as its index, follow. Among equal numbers the first wins if
    it did before (``<``), else the last (``<=``); a NaN never wins.

    ``questions`` returns what comparisons of the recurrence ask.
    """
    merged = True
    while merged:
        merger = _Merger(one, questions(one))
        merged = any(merger.merge(op) for op in one.ops if op.opcode == "select")


class _Merger:
    def __init__(self, one: Recurrence, asked: dict[Op, Question]) -> None:
        self.one, self.body, self.asked = one, one.body, asked

    def merge(self, op: Op) -> bool:
        """Merge a select that is a min/max step with the step before it."""
        second = self._step(op)
        first = self._step(second.question.value.op) if second is not None else None
        if (
            first is None
            or replace(present(second).question, value=first.question.value, other=first.question.other)
            != first.question
        ):
            return False
        self._build(first, present(second))
        return True

    def _step(self, op: Op | None) -> _Step | None:
        if op is None or op.opcode != "select" or op.result not in self.one.values:
            return None
        asks, guards, inside = op.operands[0].op, [], []
        while (
            asks is not None
            and asks not in self.asked
            and asks.opcode == "and"
            and sum(late := self.one.late(asks)) == 1
        ):
            guards.append(asks.operands[not late[1]])
            inside.append(asks)
            asks = asks.operands[late[1]].op
        question = self.asked.get(asks) if asks is not None else None
        if question is None or question.other is None or op.operands[1:] != [question.other, question.value]:
            return None
        parts = [v.defining_op for v in present(asks).operands] if present(asks).opcode == "or" else []
        return _Step(op, question, tuple(guards), (*inside, present(asks), *parts))

    def _pairs(self, first: _Step, second: _Step) -> list[tuple[Op, Op]]:
        """Other selects by both conditions: each pair of which the second select continues the first."""
        pairs = [
            (op.operands[2].op, op)
            for op in self.body.ops
            if op.opcode == "select" and op.operands[0] is second.choice.operands[0] and op is not second.choice
        ]
        return [
            (before, op)
            for before, op in pairs
            if before is not None and before.opcode == "select" and before.operands[0] is first.choice.operands[0]
        ]

    def _build(self, first: _Step, second: _Step) -> None:
        place = self.body.ops.index(second.choice.operands[0].defining_op) + 1
        early, late = Region(), Region()
        b = Builder(early, second.choice.span)
        guards = [
            reduce(lambda x, y: b.value("and", x, y), step.guards) if step.guards else None for step in (first, second)
        ]
        wins = self._second_wins(present(first.question.other), second.question, guards, b)
        best = b.value("select", wins, present(second.question.other), present(first.question.other))
        guard = b.value("or", *map(present, guards)) if None not in guards else None
        b = Builder(late, second.choice.span)
        condition = replace(first.question, other=best).ask(b)
        condition = b.value("and", condition, guard) if guard is not None else condition
        self.one.values |= {op.result for op in late.ops}
        self.body.ops[place:place] = early.ops + late.ops
        pairs = self._pairs(first, second)
        for before, op in pairs:
            added = Region()
            value = Builder(added, op.span).value("select", wins, op.operands[1], before.operands[1])
            insert_before(self.one, op, added.ops)
            op.operands = [condition, value, before.operands[2]]
        second.choice.operands = [condition, best, first.question.value]
        self._remove([*(before for before, _ in pairs), first.choice, *second.inside, *first.inside])

    def _second_wins(self, other: Value, question: Question, guards: list[Value | None], b: Builder) -> Value:
        """Whether the second step replaces the result of the first one, if that followed it directly."""
        wins = replace(question, value=other, nan=question.kind == "f").ask(b)
        wins = b.value("or", wins, b.value("xor", guards[0], b.true())) if guards[0] is not None else wins
        return b.value("and", wins, guards[1]) if guards[1] is not None else wins

    def _remove(self, ops: list[Op]) -> None:
        """Delete dead operations, so that use counts are exact."""
        used = uses(self.body)
        while gone := [
            op for op in dict.fromkeys(ops) if op in self.body.ops and not any(used.get(v) for v in op.results)
        ]:
            for op in gone:
                self.body.ops.remove(op)
            used = uses(self.body)
