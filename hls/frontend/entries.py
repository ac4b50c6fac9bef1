"""Switches with labels inside other statements (Duff's device, labels in branches), and gotos into blocks: the label's
number guides control to it.

A variable holds the number of the label that is still to be reached, and 0 once it is. Before the label, a statement
runs only if the variable is 0 or if the statement contains the label: an ``if`` then takes the branch with the label,
and a loop is entered without testing its condition. From the label on, everything runs as written. So a loop with many
entries gets a single one, and the hardware sees structured code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..diag import Span
from . import tree as tt
from . import types as ct

__all__ = ["Entries", "Guided"]

Labels = tuple[tt.Const, tt.Const]


class Guided:
    """Statements that control enters at one of several labels inside, by the number in a variable."""

    def __init__(self, span: Span) -> None:
        self._entry = tt.Variable("entry", ct.INT, "local", span)

    def declared(self, number: tt.Expr) -> tt.Declare:
        """The declaration of the variable, with the number of a label, or 0 for the begin."""
        return tt.Declare(number.span, self._entry, ((0, number),))

    def chosen(self, number: int, span: Span) -> tt.Evaluate:
        """The assignment of a label's number, or of 0."""
        place = tt.VariableRef(ct.INT, span, self._entry)
        return tt.Evaluate(span, tt.Assign(ct.INT, span, place, self._constant(number, span)))

    # -- conditions

    def _constant(self, value: int, span: Span) -> tt.Const:
        return tt.Const(ct.INT, span, value)

    def _compare(self, op: str, left: tt.Expr, right: tt.Expr) -> tt.Expr:
        return tt.Compare(ct.INT, right.span, op, left, right)

    def _holds(self, op: str, number: int, span: Span) -> tt.Expr:
        return self._compare(op, tt.VariableRef(ct.INT, span, self._entry), self._constant(number, span))

    def _between(self, first: int, last: int, span: Span) -> tt.Expr:
        if first == last:
            return self._holds("==", first, span)
        return tt.Logical(ct.INT, span, "&&", self._holds(">=", first, span), self._holds("<=", last, span))

    def _inside(self, s: tt.Stmt | None, span: Span) -> tt.Expr | None:
        """Whether the label to be reached is inside ``s``; None if ``s`` has no labels."""
        numbers = [*_numbers(s)]
        return self._between(min(numbers), max(numbers), span) if numbers else None

    def _guarded(self, s: tt.Stmt, or_inside: tt.Expr | None = None) -> tt.If:
        free = self._holds("==", 0, s.span)
        return tt.If(s.span, free if or_inside is None else tt.Logical(ct.INT, s.span, "||", free, or_inside), s, None)

    # -- statements

    def _sequence(self, statements: Sequence[tt.Stmt]) -> Iterator[tt.Stmt]:
        """The statements of a block that contains the label: those up to its last label run only if the label has been
        reached."""
        last = max((k for k, s in enumerate(statements) if any(_numbers(s))), default=-1)
        waiting: list[tt.Stmt] = []
        for s in (*statements[: last + 1], None):
            if s is None or isinstance(s, tt.Label) or any(_numbers(s)):
                if waiting:
                    yield self._guarded(tt.Block(waiting[0].span, tuple(waiting)))
                waiting = []
                if s is not None:
                    yield s if isinstance(s, tt.Label) else self.passed(s)
            else:
                waiting.append(s)
        yield from statements[last + 1 :]

    def passed(self, s: tt.Stmt) -> tt.Stmt:
        """A statement with labels inside, or a label."""
        span = s.span
        if isinstance(s, tt.Entry):
            return tt.If(span, self._holds("==", s.number, span), self.chosen(0, span), None)
        if isinstance(s, tt.Block):
            return self._guarded(self._block(s), self._inside(s, span))
        if isinstance(s, tt.If):
            return self._guarded(self._branches(s), self._inside(s, span))
        return self._guarded(self._loop(s), self._inside(s, span))

    def _block(self, s: tt.Stmt | None) -> tt.Stmt | None:
        if s is None or not any(_numbers(s)):
            return s
        return tt.Block(s.span, tuple(self._sequence(s.statements if isinstance(s, tt.Block) else (s,))))

    def _branches(self, s: tt.If) -> tt.If:
        into = self._inside(s.then, s.span)
        if into is None:
            condition = tt.Logical(ct.INT, s.span, "&&", self._holds("==", 0, s.span), s.condition)
        elif not any(_numbers(s.otherwise)):
            condition = tt.Logical(ct.INT, s.span, "||", into, s.condition)
        else:
            condition = tt.Conditional(
                ct.INT,
                s.span,
                self._holds("==", 0, s.span),
                tt.Logical(ct.INT, s.span, "&&", s.condition, self._constant(1, s.span)),
                into,
            )
        return tt.If(s.span, condition, self._block(s.then), self._block(s.otherwise))

    def _loop(self, s: tt.Loop) -> tt.Block:
        first = (self._guarded(tt.Block(s.span, s.first)),) if s.first else ()
        condition = s.condition
        if condition is not None and s.form != "do":
            condition = tt.Logical(ct.INT, s.span, "||", self._holds("!=", 0, s.span), condition)
        return tt.Block(s.span, (*first, replace(s, first=(), condition=condition, body=self._block(s.body))))


class Entries(Guided):
    """The labels of one switch in textual order, numbered from 1."""

    def __init__(self, value: tt.Expr, span: Span) -> None:
        super().__init__(span)
        self.seen: dict[tuple[int, int], Span] = {}
        self.default: int | None = None
        self.span, self.type = span, value.type
        self._labels: list[Labels | None] = []
        self._value = tt.Variable("the value of the switch", value.type, "local", span)
        self._first = value

    def add(self, span: Span, labels: Labels | None) -> tt.Entry:
        """The entry of a label; of ``default`` if it has no values."""
        self._labels.append(labels)
        if labels is None:
            self.default = len(self._labels)
        return tt.Entry(span, len(self._labels))

    def switch(self, statements: Sequence[tt.Stmt]) -> list[tt.Stmt]:
        """The switch with these statements as its body."""
        span, last = self.span, len(self._labels)
        body = tt.Block(span, tuple(self._sequence(statements)))
        # without a label to be reached nothing waits for one, wherever a goto enters the body
        reached = tt.If(span, self._between(1, last, span), body, self.chosen(0, span))
        section = tt.Section(span, (), True, tt.Block(span, (reached,)))  # target of a break
        return [
            tt.Declare(span, self._value, ((0, self._first),)),
            self.declared(self._number()),
            tt.Switch(span, self._constant(0, span), (section,)),
        ]

    def _number(self) -> tt.Expr:
        """The number of the label that the value selects; else that of ``default``, or one after the last."""
        found: tt.Expr = self._constant(self.default or len(self._labels) + 1, self.span)
        value = tt.VariableRef(self._value.type, self.span, self._value)
        for k, labels in reversed([*enumerate(self._labels, 1)]):
            if labels is not None:
                first, last = labels
                hit = self._compare("==", value, first)
                if first.value != last.value:
                    hit = tt.Logical(
                        ct.INT, first.span, "&&", self._compare(">=", value, first), self._compare("<=", value, last)
                    )
                found = tt.Conditional(ct.INT, first.span, hit, self._constant(k, first.span), found)
        return found


def _numbers(s: tt.Stmt | None) -> Iterator[int]:
    """The labels inside a statement, or the label that it is."""
    if isinstance(s, tt.Entry):
        yield s.number
    elif isinstance(s, tt.Block | tt.If | tt.Loop):
        for child in tt.children(s):
            if isinstance(child, tt.Stmt):
                yield from _numbers(child)
