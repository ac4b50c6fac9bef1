"""Retiming of comparisons: conditions on counters are computed one iteration before they are used."""

from dataclasses import dataclass, replace

from ...analysis.loops.sccs import components
from ...analysis.timing import Arrivals, TimingModel
from ...ir import BOOL, Attr, Builder, Function, IntType, Op, Region, Value, has, loops_inside_out, walk
from ...ir.clone import clone_function, clone_ops
from ...ir.loops import CarriedValue, add_carried
from ...narrow import instance, present
from ..manager import Form, FunctionPass

__all__ = ["RetimeComparisons"]

_COMPARISONS = frozenset({"eq", "ne", "slt", "sle", "ult", "ule"})
#: most selects and sums between a counter and its next value
_MOST_PARTS = 16


@dataclass(frozen=True)
class RetimeComparisons(FunctionPass):
    """Retiming of comparisons across the loop's state registers (look-ahead by one iteration). Before: flat, with
    memory tokens. After: if a counter is compared, and its next value depends on the result in more than a cycle, the
    result is a carried bit, computed in the previous iteration.

    ``x' = c ? r : x + s`` with ``c = x == n`` carries ``e``, which is ``c``, and ``z``, which is ``x + s - n``: ``e' =
    e ? r == n : z == 0``, ``z' = e ? r + s - n : z + s``. The terms with ``r`` are known in advance; so the path from
    ``z`` to ``e'`` contains no sum, and only a comparison of the remaining distance with 0. So it does if ``x`` has
    fewer bits than ``n``: then ``n`` is a number of so many bits, or never reached. Other comparisons are treated in
    the same way, with ``z = x + s`` compared with ``n``. If the path contains further selects, each arm is treated so.
    Exact for every operand, as sums wrap in the same way on both paths.
    """

    timing: TimingModel
    name = "retime-comparisons"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loops carry late comparisons of counters; loops over groups with barriers are left alone."""
        result = clone_function(function)
        for region, loop in list(loops_inside_out(result.body)):
            if not loop.attrs.get(Attr.RING):
                _Loop(region, loop, self.timing).run()
        return result


class _Stuck(Exception):
    """A counter steps in a way that this pass does not follow."""


class _Loop:
    def __init__(self, region: Region, loop: Op, timing: TimingModel):
        self.region, self.loop, self.timing = region, loop, timing
        (self.body,) = loop.regions
        self.component = components(self.body)
        self.makers = {r: op for op in self.body.ops for r in op.results}
        #: loop-invariant values of the body, recomputed before the loop
        self.moved: dict[Value, Value] = {}
        self.before = Region()
        self.ones: dict[IntType, Value] = {}

    def run(self):
        late = self._late()
        for op in [op for op in self.body.ops if op.opcode in _COMPARISONS and self.component.get(op.result) in late]:
            form = self._compared(op)
            if form is not None:
                self._replace(op, form)
        place = self.region.ops.index(self.loop)
        self.region.ops[place:place] = self.before.ops

    def _late(self) -> set[int]:
        """The components whose path from one iteration to the next takes more than a cycle and consists of integer
        logic."""
        arrivals = Arrivals(self.timing, dict.fromkeys(self.body.args, self.timing.register()))
        strange = set()
        for op in self.body.ops:
            sets = {self.component[value] for value in op.results if value in self.component}
            if not has(op, "logic"):
                strange |= sets
            elif sets:
                arrivals.note(op)
        ends = [v for v in self.body.terminator.operands[1:] if v in self.component]
        return {self.component[v] for v in ends if arrivals.misses(v)} - strange

    # --- what is compared ---

    def _compared(self, op: Op) -> "_Form | None":
        """The counter that the comparison tests, if its other operand is loop-invariant."""
        for k, (value, other) in enumerate((op.operands, op.operands[::-1])):
            wide, inner = None, value
            if value.op is not None and value.op.opcode in ("zext", "sext") and value.op.operands[0].type != BOOL:
                wide, inner = value.op.opcode, value.op.operands[0]
            found = self._sum(inner)
            limit = self.steady(other)
            if found is not None and limit is not None and self.component.get(found[0]) == self.component[op.result]:
                form = _Form(op.opcode, k, wide, instance(value.type, IntType), found[0], found[1], limit)
                return self._narrowed(form) if wide and op.opcode in ("eq", "ne") else form
        return None

    def _narrowed(self, form: "_Form") -> "_Form":
        """The form with its limit in the type of the counter, and whether the limit has a value of that type."""
        b = Builder(self.before, self.loop.span)
        short = b.value("trunc", form.limit, result=form.counter.type)
        fits = b.value("eq", b.value(present(form.wide), short, result=form.type), form.limit)
        return replace(form, short=short, fits=fits)

    def _sum(self, value: Value) -> tuple[Value, tuple[Value, ...]] | None:
        """A carried value, and the invariants that are added to it."""
        if value.owner is self.body:
            return (value, ()) if isinstance(value.type, IntType) and value.type != BOOL else None
        op = self.makers.get(value)
        if op is None or op.opcode != "add":
            return None
        for one, other in (op.operands, op.operands[::-1]):
            root, step = self._sum(one), self.steady(other)
            if root is not None and step is not None:
                return root[0], (*root[1], step)
        return None

    def steady(self, value: Value) -> Value | None:
        """The value as available before the loop; None if it is not loop-invariant."""
        if value.owner is self.body:
            return None
        op = self.makers.get(value)
        if op is None:
            return value
        if value not in self.moved:
            steady = {v: before for v in op.operands if (before := self.steady(v)) is not None}
            if not has(op, "logic") or any(v not in steady for v in op.operands):
                return None
            self.before.ops += clone_ops([op], steady)
            self.moved[value] = self.before.ops[-1].result
        return self.moved[value]

    # --- the replacement ---

    def _replace(self, op: Op, form: "_Form"):
        index, end = form.counter.index, self.body.ops.pop()
        following = end.operands[1 + index]
        try:
            self._check(following, form.counter, set())
        except _Stuck:
            self.body.ops.append(end)
            return
        outside, b = Builder(self.before, op.span), Builder(self.body, op.span)
        step = self._step(following, form.counter)
        initial = form.added(self.loop.operands[1 + index], outside)
        early = self._carry(form.compare(initial, outside))
        ahead = self._carry(form.distance(_total(initial, step, outside), outside)) if step else None
        way = _Way(self, form, step, early.arg, None if ahead is None else ahead.arg, b)
        answer = way.answer(following)
        distance = None if ahead is None else way.distance(following)
        self.body.ops.append(end)
        early.set_next(answer)
        if ahead is not None:
            ahead.set_next(present(distance))
        for each in walk(self.body):
            each.operands = [early.arg if v is op.result else v for v in each.operands]

    def _carry(self, initial: Value) -> CarriedValue:
        return add_carried(self.loop, initial, initial.name)

    def _check(self, value: Value, counter: Value, seen: set[Value]):
        """Raises _Stuck if the path to the counter's next value contains anything but selects and steps."""
        if value in seen or value not in self.component or value is counter:
            return
        seen.add(value)
        _, sides = self.parts(value)
        if not sides or len(seen) > _MOST_PARTS:
            raise _Stuck
        for side, _ in sides:
            self._check(side, counter, seen)

    def parts(self, value: Value) -> "tuple[Value | None, list[tuple[Value, Value | None]]]":
        """The condition, and one or two arms of a value on the path, each with its addend (None: nothing); the first
        arm applies if the condition holds."""
        op = self.makers.get(value)
        if op is not None and op.opcode == "select":
            condition, *sides = op.operands
            return condition, [(side, None) for side in sides]
        for one, other in (op.operands, op.operands[::-1]) if op is not None and op.opcode == "add" else ():
            if one in self.component and (step := self.steady(other)) is not None:
                return None, [(one, step)]
            if (
                one in self.component
                and other.op is not None
                and other.op.opcode == "zext"
                and other.op.operands[0].type == BOOL
            ):
                return other.op.operands[0], [(one, self._one(instance(value.type, IntType))), (one, None)]
        return None, []

    def _one(self, type: IntType) -> Value:
        if type not in self.ones:
            self.ones[type] = Builder(self.before, self.loop.span).const(1, type)
        return self.ones[type]

    def _step(self, value: Value, counter: Value, terms=()) -> tuple[Value, ...]:
        """The addends of the counter on a path where it steps; empty if it never does."""
        if value is counter:
            return terms
        if value not in self.component:
            return ()
        found = (self._step(side, counter, _with(step, terms)) for side, step in self.parts(value)[1])
        return next((each for each in found if each), ())


def _with(step: Value | None, terms: tuple[Value, ...]) -> tuple[Value, ...]:
    return terms if step is None else (step, *terms)


def _total(value: Value, terms, b: Builder) -> Value:
    for term in terms:
        value = b.value("add", value, term)
    return value


@dataclass(frozen=True)
class _Form:
    """A comparison of ``counter`` plus ``terms``, as operand ``side``, extended by ``wide`` to ``type``, with
    ``limit``; ``short`` is the limit in the type of the counter, which is the limit only if it ``fits``."""

    opcode: str
    side: int
    wide: str | None
    type: IntType
    counter: Value
    terms: tuple[Value, ...]
    limit: Value
    short: Value | None = None
    fits: Value | None = None

    @property
    def from_zero(self) -> bool:
        """Whether to compare the remaining distance with 0: half as many bits as in a comparison of two values."""
        return self.opcode in ("eq", "ne")

    def added(self, value: Value, b: Builder) -> Value:
        return _total(value, self.terms, b)

    def compare(self, value: Value, b: Builder) -> Value:
        """The comparison for a given sum of the counter and the terms."""
        whole = b.value(self.wide, value, result=self.type) if self.wide else value
        operands = [whole, self.limit]
        return b.value(self.opcode, *(operands[::-1] if self.side else operands))

    def distance(self, value: Value, b: Builder) -> Value:
        return b.value("sub", value, self.short or self.limit) if self.from_zero else value

    def answer(self, distance: Value, b: Builder) -> Value:
        """The comparison, applied to a distance."""
        if not self.from_zero:
            return self.compare(distance, b)
        reached = b.value(self.opcode, distance, b.const(0, distance.type))
        if self.fits is None:
            return reached
        if self.opcode == "eq":
            return b.value("and", reached, self.fits)
        return b.value("or", reached, b.value("xor", self.fits, b.true()))


class _Way:
    """Builds the comparison, and the distance, for the counter's next value, along the path to it."""

    def __init__(self, loop: _Loop, form: _Form, step, early: Value, ahead: Value | None, b: Builder):
        self.loop, self.form, self.step, self.early, self.ahead, self.b = loop, form, step, early, ahead, b
        self.known: dict[tuple, Value] = {}

    def answer(self, value: Value) -> Value:
        """The comparison for this value of the counter."""
        return self._follow(value, (), self._answer)

    def distance(self, value: Value) -> Value:
        return self._follow(value, (), self._distance)

    def _follow(self, value: Value, terms: tuple[Value, ...], of) -> Value:
        """The select tree of the value with ``of`` applied to each leaf and the terms added to it."""
        key = value, terms, of.__name__
        if key not in self.known:
            if value is self.form.counter or value not in self.loop.component:
                self.known[key] = of(value, terms)
            else:
                condition, sides = self.loop.parts(value)
                found = [self._follow(side, _with(step, terms), of) for side, step in sides]
                self.known[key] = found[0] if condition is None else self.b.value("select", condition, *found)
        return self.known[key]

    def _answer(self, value: Value, terms) -> Value:
        if value is self.form.counter and not terms:
            return self.early
        if value is self.form.counter and terms == self.step:
            return self.form.answer(present(self.ahead), self.b)
        return self._beside(value, lambda v, b: self.form.compare(self.form.added(_total(v, terms, b), b), b))

    def _distance(self, value: Value, terms) -> Value:
        if value is self.form.counter:
            return _total(present(self.ahead), terms, self.b)
        return self._beside(
            value, lambda v, b: self.form.distance(_total(self.form.added(_total(v, terms, b), b), self.step, b), b)
        )

    def _beside(self, value: Value, build) -> Value:
        """A value independent of the counter: built before the loop if it is invariant."""
        steady = None if value is self.form.counter else self.loop.steady(value)
        return build(value, self.b) if steady is None else build(steady, Builder(self.loop.before, self.b.span))
