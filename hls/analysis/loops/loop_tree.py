"""The loop tree of a flat kernel: nesting of loops, and their basic induction variables."""

from dataclasses import dataclass
from functools import cached_property

from ...ir import Attr, Function, Op, Region, Value, has
from ...ir.rewrite import constant
from ...ir.values import signed
from ...narrow import present
from ..predicates.implication import implied

__all__ = ["Induction", "Loop", "LoopTree", "step_of"]


@dataclass(frozen=True)
class Induction:
    """A carried value that is ``init + step * k`` in iteration k (modulo its width)."""

    arg: Value
    init: Value
    step: int


@dataclass(frozen=True, eq=False)
class Loop:
    """One loop; ``parent`` is the loop around it. ``parallel``: its iterations are work-items, which are unordered."""

    op: Op
    parent: "Loop | None"

    @property
    def body(self) -> Region:
        """The region that an iteration executes."""
        return self.op.regions[0]

    @property
    def parallel(self) -> bool:
        """Whether the iterations are work-items, which are unordered."""
        return bool(self.op.attrs.get(Attr.PARALLEL))

    @property
    def again(self) -> Value:
        """The continue condition."""
        return self.body.terminator.operands[0]

    @cached_property
    def path(self) -> tuple["Loop", ...]:
        """The loops from the outermost to this one."""
        return (*(self.parent.path if self.parent else ()), self)

    @cached_property
    def most_trips(self) -> int | None:
        """The greatest trip count, if a counter with constant start and limit gives it, or did before loop control was
        rewritten."""
        found = [
            _most_trips(i, fact.op)
            for i in self.inductions.values()
            for fact, truth in implied(self.again).items()
            if truth and fact.op is not None and fact.op.operands[:1] == [self.following(i.arg)]
        ]
        return min((n for n in (*found, self.op.attrs.get(Attr.TRIP_COUNT)) if n is not None), default=None)

    def following(self, arg: Value) -> Value:
        """The value of a carried value in the next iteration."""
        return self.body.terminator.operands[1 + arg.index]

    @cached_property
    def inductions(self) -> dict[Value, Induction]:
        """Carried values with a constant step, by their argument."""
        found = {}
        for arg, init in zip(self.body.args, self.op.operands[1:], strict=True):
            step = step_of(arg, self.following(arg))
            if step is not None:
                found[arg] = Induction(arg, init, step)
        return found


def _most_trips(induction: Induction, test: Op) -> int | None:
    """Iterations of a loop that continues while the counter, after its step, is below a constant."""
    if test.opcode not in ("slt", "ult") or induction.step < 1:
        return None
    start, end = constant(induction.init), constant(test.operands[1])
    if start is None or end is None:
        return None
    bits = induction.arg.type.bits
    top = 1 << bits - (test.opcode == "slt")
    if test.opcode == "slt":
        start, end = signed(start, bits), signed(end, bits)
    if end - 1 + induction.step >= top or start + induction.step >= top:
        return None  # the counter might wrap
    return max(1, -((start - end) // induction.step))


def step_of(arg: Value, following: Value) -> int | None:
    """The constant by which ``following`` exceeds ``arg``, if there is one."""
    total = 0
    while following is not arg:
        op = following.op
        if op is None or op.opcode not in ("add", "sub"):
            return None
        left, right = op.operands
        if op.opcode == "add" and constant(left) is not None:
            left, right = right, left
        if constant(right) is None:
            return None
        number = signed(present(constant(right)), right.type.bits)
        total += number if op.opcode == "add" else -number
        following = left
    return total


class LoopTree:
    """All loops of a function; the loop that contains each operation, and in which each value changes (None: no
    loop)."""

    def __init__(self, function: Function) -> None:
        self.loops: dict[Op, Loop] = {}
        self._home: dict[Op, Loop | None] = {}
        self._of_region: dict[Region, Loop | None] = {function.body: None}
        self._region_of: dict[Op, Region] = {}
        self._changing: dict[Value, Loop | None] = {}
        self._visit(function.body, None)

    def _visit(self, region: Region, inside: Loop | None) -> None:
        for op in region.ops:
            self._home[op], self._region_of[op] = inside, region
            for inner in op.regions:
                self.loops[op] = loop = Loop(op, inside)
                self._of_region[inner] = loop
                self._visit(inner, loop)

    def around(self, op: Op) -> tuple[Loop, ...]:
        """The loops around the operation, outermost first."""
        home = self._home[op]
        return home.path if home else ()

    def region_of(self, op: Op) -> Region:
        """The region that contains the operation."""
        return self._region_of[op]

    def ancestor(self, op: Op, region: Region) -> Op:
        """The operation of the region that is or contains ``op``."""
        while self._region_of[op] is not region:
            op = present(self._home[op]).op
        return op

    def holder(self, arg: Value) -> Loop | None:
        """The loop that carries the value, None for an argument of the kernel."""
        return self._of_region.get(arg.owner) if isinstance(arg.owner, Region) else None

    def changing(self, value: Value) -> Loop | None:
        """The innermost loop in which the value may change from one iteration to the next."""
        work = [value]
        while value not in self._changing:  # iterative: unrolled bodies contain long chains of operations
            top = work.pop()
            missing = [v for v in self._needs(top) if v not in self._changing]
            if missing:
                work += [top, *missing]
            elif top not in self._changing:
                self._changing[top] = self._find_changing(top)
        return self._changing[value]

    def _needs(self, value: Value) -> list[Value]:
        return value.op.operands if value.op is not None and has(value.op, "pure") else []

    def _find_changing(self, value: Value) -> Loop | None:
        if value.op is None:
            return self.holder(value)
        if not has(value.op, "pure"):
            return self._home[value.op]
        loops = [loop for v in value.op.operands if (loop := self._changing[v]) is not None]
        return max(loops, key=lambda loop: len(loop.path), default=None)
