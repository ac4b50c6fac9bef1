"""Conditional arithmetic on a carried float as unconditional arithmetic with guarded operands, with the same bits.

``c ? s + x : s`` is ``s + (c ? x : -0.0)``: adding -0.0 changes no number, only NaNs with a payload and, where
subnormal numbers are flushed, those. The same holds for products and quotients: ``c ? s * x : s`` is
``s * (c ? x : 1.0)``. ``c ? s + x : s - y`` is ``s + (c ? x : -y)``. The select is off the recurrence then, if its
condition is. This is done if it shortens the recurrence by a cycle: a select after the last register of the operation
may be free, and the guard in front of the operand is not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...analysis.timing import Recurrence, TimingModel
from ...ir import Builder, FloatType, Function, Op, Value, loops_inside_out, uses
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .addition_trees import only_user
from .canonical_values import is_canonical
from .flush_denormals import flush_of

__all__ = ["GuardOperands"]

#: the operands of an operation that may be the carried number
_PLACES = {"fadd": (0, 1), "fsub": (0,), "fma": (2,), "fmul": (0, 1), "fdiv": (0,)}
#: operations whose second operands one select can choose, negated where the operations differ
_SUMS = ("fadd", "fsub")


@dataclass(frozen=True)
class GuardOperands(FunctionPass):
    """Guarding of the operands of conditional arithmetic. Before: selects between sums, products or quotients on the
    recurrence of a float. After: operations on selected operands, in the same order, where ``timing`` says that this
    saves a cycle (None: nothing is done), and where the number equals its sum with -0.0, and so its product with 1.0,
    bit by bit.
    """

    timing: TimingModel | None = None

    name = "guard-operands"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which guarded terms replace selects, in the innermost loops first; an equal copy without
        ``timing``."""
        result = clone_function(function)
        if self.timing is not None:
            timing = self.timing.unplanned(function)
            loops = {arg: loop for _, loop in loops_inside_out(result.body) for arg in loop.regions[0].args}
            for _, loop in loops_inside_out(result.body):
                _Body(result, loop, loops, timing).run()
        return result


@dataclass(frozen=True)
class _Link:
    """Arithmetic on the operand at ``place``, on a recurrence; its other operands are off it."""

    op: Op
    place: int

    @property
    def root(self) -> Value:
        return self.op.operands[self.place]


class _Body:
    def __init__(self, function: Function, loop: Op, loops: Mapping[Value, Op], timing: TimingModel) -> None:
        (self.body,), self.function, self.loops, self.timing = loop.regions, function, loops, timing
        self.together = components(self.body)
        self.inside = set(self.body.ops)

    def run(self) -> None:
        found: dict[int, list[Op]] = {}
        for op in self.body.ops:
            chosen = op.opcode == "select" and isinstance(op.result.type, FloatType) and op.result in self.together
            if chosen and not self._is_mine(op.operands[0], op):
                found.setdefault(self.together[op.result], []).append(op)
        for number, selects in found.items():
            values = {value for value, k in self.together.items() if k == number}
            if any(op.regions for op in self.body.ops if not values.isdisjoint(op.results)):
                continue
            one = Recurrence(self.body, values, self.timing)
            if one.cycles(dict.fromkeys(selects, 0.0)) < one.cycles():
                for op in selects:
                    self._visit(op, uses(self.function.body))

    def _is_mine(self, value: Value, op: Op) -> bool:
        """Whether the value is on the recurrence of the operation."""
        return op.result in self.together and self.together.get(value) == self.together[op.result]

    def _visit(self, op: Op, used: Mapping[Value, list[tuple[Op, int]]]) -> None:
        _, *arms = op.operands
        for arm, root, kept in ((arms[0], arms[1], False), (arms[1], arms[0], True)):
            chain = self._chain(arm, root, op, used)
            if chain and is_canonical(root, bool(flush_of(chain[0].op)), self.loops):
                self._guard(op, chain, root, kept)
                return
        links = [self._link(arm, op, used) for arm in arms]
        known = [link for link in links if link is not None]
        if len(known) == len(links) and self._are_alike(known):
            self._select(op, known)

    def _link(self, value: Value, user: Op, used: Mapping[Value, list[tuple[Op, int]]]) -> _Link | None:
        """The operation that computes the value, for this user only."""
        op = value.op
        if op not in self.inside or op.opcode not in _PLACES or only_user(value, used) is not user:
            return None
        late = [k for k, v in enumerate(op.operands) if self._is_mine(v, op)]
        return _Link(op, late[0]) if len(late) == 1 and late[0] in _PLACES[op.opcode] else None

    def _chain(self, value: Value, root: Value, user: Op, used: Mapping[Value, list[tuple[Op, int]]]) -> list[_Link]:
        """The operations from ``root`` to the value, the first one first; none if there is one of another kind among
        them."""
        links: list[_Link] = []
        while value is not root:
            link = self._link(value, links[-1].op if links else user, used)
            if link is None:
                return []
            links.append(link)
            value = link.root
        alike = {tuple(flush_of(link.op)) for link in links}
        return links[::-1] if len(alike) == 1 else []

    def _are_alike(self, links: list[_Link]) -> bool:
        """Whether the same number is the operand of two sums, two products or two quotients."""
        one, other = links
        codes = {one.op.opcode, other.op.opcode}
        return (
            one.op is not other.op
            and one.root is other.root
            and (codes <= {*_SUMS} or len(codes) == 1 and codes != {"fma"})
            and flush_of(one.op) == flush_of(other.op)
        )

    def _guard(self, op: Op, chain: list[_Link], root: Value, kept: bool) -> None:
        """The select becomes the last operation of the chain, each of whose other operands is a neutral one if ``root``
        is kept: where the condition is ``kept``."""
        condition, place = op.operands[0], self.body.ops.index(op)
        gone = {link.op for link in chain}
        behind, self.body.ops = self.body.ops[place:], [each for each in self.body.ops[:place] if each not in gone]
        b, value = Builder(self.body, op.span), root
        for link in chain:
            terms = list(link.op.operands)
            for k, nothing in _neutral(link.op.opcode, link.place).items():
                arms = [terms[k], b.const(nothing, op.result.type)]
                terms[k] = b.value("select", condition, *(arms[::-1] if kept else arms))
            terms[link.place] = value
            if link is not chain[-1]:
                value = b.value(link.op.opcode, *terms, attrs=flush_of(link.op))
        self.body.ops += behind
        self._become(op, chain[-1].op, terms)

    def _select(self, op: Op, links: list[_Link]) -> None:
        """The select becomes one operation on a selected operand."""
        condition, place = op.operands[0], self.body.ops.index(op)
        gone = {link.op for link in links}
        behind, self.body.ops = self.body.ops[place:], [each for each in self.body.ops[:place] if each not in gone]
        b = Builder(self.body, op.span)
        terms = [link.op.operands[1 - link.place] for link in links]
        if links[0].op.opcode != links[1].op.opcode:
            terms = [
                b.value("fneg", term) if link.op.opcode == "fsub" else term
                for term, link in zip(terms, links, strict=True)
            ]
        like = next((link.op for link in links if link.op.opcode == "fadd"), links[0].op)
        operands = [links[0].root, b.value("select", condition, *terms)]
        self.body.ops += behind
        self._become(op, like, operands)

    def _become(self, op: Op, like: Op, operands: list[Value]) -> None:
        op.opcode, op.operands, op.attrs = like.opcode, operands, {**op.attrs, **flush_of(like)}
        op.span = like.span


def _neutral(opcode: str, place: int) -> dict[int, float]:
    """The operands, other than the one at ``place``, with which an operation changes nothing."""
    if opcode == "fma":
        return {0: -0.0, 1: 1.0}
    if opcode in ("fmul", "fdiv"):
        return {1 - place: 1.0}
    return {1 - place: -0.0 if opcode == "fadd" else 0.0}
