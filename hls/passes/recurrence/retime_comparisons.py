"""Retiming of comparisons: conditions on counters are computed one iteration before they are used."""

from collections.abc import Callable, Iterator, Mapping
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
#: operations, behind loads that are made early as many iterations ahead as they take, that take less than a cycle, too
_WITH_LOADS_AHEAD = frozenset({"addr", "failed", "array", "extract"})
#: most selects and sums between a counter and its next value
_MOST_PARTS = 16
#: most steps of a counter that a comparison is retimed over; each takes a carried value
_MOST_STEPS = 4


@dataclass(frozen=True)
class RetimeComparisons(FunctionPass):
    """Retiming of comparisons across the loop's state registers (look-ahead by one iteration). Before: flat, with
    memory tokens. After: if a counter is compared, and its next value depends on the result in more than a cycle, the
    result is a carried bit, computed in the previous iteration.

    ``x' = c ? r : x + s`` with ``c = x == n`` carries ``e``, which is ``c``, and ``z``, which is ``x + s - n``: ``e' =
    e ? r == n : z == 0``, ``z' = e ? r + s - n : z + s``. The terms with ``r`` are known in advance; so the path from
    ``z`` to ``e'`` contains no sum, and only a comparison of the remaining distance with 0. So it does if ``x`` has
    fewer bits than ``n``: then ``n`` is a number of so many bits, or never reached. Other comparisons are treated in
    the same way, with ``z = x + s`` compared with ``n``. If the path contains further selects, each arm is treated so:
    a counter that steps by different sums, as in ``x += s; if (x >= n) x -= n``, carries a ``z`` for each. Exact for
    every operand, as sums wrap in the same way on both paths.
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


#: invariants that are added to a counter, the last one first
Terms = tuple[Value, ...]


class _Stuck(Exception):
    """A counter steps in a way that this pass does not follow."""


class _Loop:
    def __init__(self, region: Region, loop: Op, timing: TimingModel) -> None:
        self.region, self.loop, self.timing = region, loop, timing
        (self.body,) = loop.regions
        self.component = components(self.body)
        self.makers = {r: op for op in self.body.ops for r in op.results}
        #: loop-invariant values of the body, recomputed before the loop
        self.moved: dict[Value, Value] = {}
        self.before = Region()
        self.ones: dict[IntType, Value] = {}
        #: loop-invariant values that are subtracted, and their complements to 0
        self.negated: dict[Value, Value] = {}
        #: sums of loop-invariant values
        self.sums: dict[Terms, Value] = {}

    def run(self) -> None:
        late, retimed = self._late(), set[Value]()
        for op in [op for op in self.body.ops if op.opcode in _COMPARISONS and self.component.get(op.result) in late]:
            form = self._compared(op)
            if form is not None and self._replace(op, form):
                retimed.add(form.counter)
        for counter in sorted(retimed, key=lambda counter: counter.index):
            self._shorten(counter)
        place = self.region.ops.index(self.loop)
        self.region.ops[place:place] = self.before.ops

    def _arrivals(self) -> Arrivals:
        """The arrivals of what logic computes on recurrences, from the registers of carried values."""
        arrivals = Arrivals(self.timing, dict.fromkeys(self.body.args, self.timing.register()))
        return arrivals.follow(
            op for op in self.body.ops if has(op, "logic") and any(value in self.component for value in op.results)
        )

    def _late(self) -> set[int]:
        """The components whose path from one iteration to the next takes more than a cycle and consists of integer
        logic."""
        arrivals = self._arrivals()
        parts = {
            op: found
            for op in self.body.ops
            if not has(op, "logic") and (found := {self.component[v] for v in op.results if v in self.component})
        }
        early = {op for op in parts if op.opcode == "load" and Attr.EARLY in op.attrs}
        ahead = {part for op in early for part in parts[op]}
        beside = {op: ahead if op.opcode in _WITH_LOADS_AHEAD else set() for op in parts.keys() - early}
        strange = {part for op, spared in beside.items() for part in parts[op] - spared}
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
        for one, step in self._steady_sums(self.makers.get(value)):
            root = self._sum(one)
            if root is not None:
                return root[0], (*root[1], step)
        return None

    def _steady_sums(self, op: Op | None) -> Iterator[tuple[Value, Value]]:
        """The operands of a sum or difference whose other operand is loop-invariant, with what is added to them."""
        if op is None or op.opcode not in ("add", "sub"):
            return
        for one, other in (op.operands, op.operands[::-1])[: 1 if op.opcode == "sub" else 2]:
            step = self.steady(other)
            if step is not None:
                yield one, self._negated(step) if op.opcode == "sub" else step

    def total(self, terms: Terms) -> Value:
        """The sum of the terms, of which there is at least one, computed before the loop."""
        if terms not in self.sums:
            b = Builder(self.before, self.loop.span)
            self.sums[terms] = terms[0] if len(terms) == 1 else b.value("add", self.total(terms[:-1]), terms[-1])
        return self.sums[terms]

    def plus(self, value: Value, terms: Terms, b: Builder) -> Value:
        """The value plus all terms: one sum in the loop."""
        return b.value("add", value, self.total(terms)) if terms else value

    def _negated(self, value: Value) -> Value:
        if value not in self.negated:
            b = Builder(self.before, self.loop.span)
            self.negated[value] = b.value("sub", b.const(0, instance(value.type, IntType)), value)
        return self.negated[value]

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

    def _replace(self, op: Op, form: "_Form") -> bool:
        """Carries the result of the comparison; returns whether the counter steps in a way that permits it."""
        index, end = form.counter.index, self.body.ops.pop()
        following = end.operands[1 + index]
        try:
            self._check(following, form.counter, set())
        except _Stuck:
            self.body.ops.append(end)
            return False
        outside, b = Builder(self.before, op.span), Builder(self.body, op.span)
        steps = list(dict.fromkeys(self._steps(following, form.counter, (), set())))[:_MOST_STEPS]
        initial = self.plus(self.loop.operands[1 + index], form.terms, outside)
        early = self._carry(form.compare(initial, outside))
        ahead = {step: self._carry(form.distance(self.plus(initial, step, outside), outside)) for step in steps}
        way = _Way(self, form, early.arg, {step: carried.arg for step, carried in ahead.items()}, b)
        answer = way.answer(following)
        distances = {step: way.distance(following, step) for step in steps}
        self.body.ops.append(end)
        early.set_next(answer)
        for step, carried in ahead.items():
            carried.set_next(distances[step])
        for each in walk(self.body):
            each.operands = [early.arg if v is op.result else v for v in each.operands]
        return True

    def _shorten(self, counter: Value) -> None:
        """Selects the counter's next value among sums, if a sum of a selected value is too late for one cycle."""
        arrivals = self._arrivals()
        following, new = self.body.terminator.operands[1 + counter.index], Region()
        if arrivals.misses(following):
            b = Builder(new, self.loop.span)
            sooner = self.follow(following, counter, lambda leaf, terms: self.plus(leaf, terms, b), b)
            if arrivals.follow(new.ops).at(sooner) < arrivals.at(following):
                self.body.ops[-1:-1] = new.ops
                self.body.terminator.operands[1 + counter.index] = sooner

    def _carry(self, initial: Value) -> CarriedValue:
        return add_carried(self.loop, initial, initial.name)

    def _check(self, value: Value, counter: Value, seen: set[Value]) -> None:
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
        for one, step in self._steady_sums(op):
            if one in self.component:
                return None, [(one, step)]
        for one, other in (op.operands, op.operands[::-1]) if op is not None and op.opcode == "add" else ():
            if (
                one in self.component
                and other.op is not None
                and other.op.opcode == "zext"
                and other.op.operands[0].type == BOOL
            ):
                return other.op.operands[0], [(one, self._one(instance(value.type, IntType))), (one, None)]
        return None, []

    def follow(self, value: Value, counter: Value, of: Callable[[Value, Terms], Value], b: Builder) -> Value:
        """The select tree of a value on the path to the counter's next one, with ``of`` applied to each leaf and to the
        terms that are added to it."""
        known: dict[tuple[Value, Terms], Value] = {}

        def built(value: Value, terms: Terms) -> Value:
            if value is counter or value not in self.component:
                return of(value, terms)
            if (value, terms) not in known:
                condition, sides = self.parts(value)
                found = [built(side, _with(step, terms)) for side, step in sides]
                known[value, terms] = found[0] if condition is None else b.value("select", condition, *found)
            return known[value, terms]

        return built(value, ())

    def _one(self, type: IntType) -> Value:
        if type not in self.ones:
            self.ones[type] = Builder(self.before, self.loop.span).const(1, type)
        return self.ones[type]

    def _steps(self, value: Value, counter: Value, terms: Terms, seen: set[tuple[Value, Terms]]) -> Iterator[Terms]:
        """The addends of the counter on each path on which it steps. Paths that meet with equal ``terms``, which are in
        ``seen`` then, are followed once."""
        if (value, terms) in seen:
            return
        seen.add((value, terms))
        if value is counter:
            if terms:
                yield terms
        elif value in self.component:
            for side, step in self.parts(value)[1]:
                yield from self._steps(side, counter, _with(step, terms), seen)


def _with(step: Value | None, terms: Terms) -> Terms:
    return terms if step is None else (step, *terms)


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

    def __init__(self, loop: _Loop, form: _Form, early: Value, ahead: Mapping[Terms, Value], b: Builder) -> None:
        self.loop, self.form, self.early, self.ahead, self.b = loop, form, early, ahead, b

    def answer(self, value: Value) -> Value:
        """The comparison for this value of the counter."""
        return self.loop.follow(value, self.form.counter, self._answer, self.b)

    def distance(self, value: Value, step: Terms) -> Value:
        """The distance of this value of the counter after one more ``step``."""
        return self.loop.follow(value, self.form.counter, lambda leaf, terms: self._distance(leaf, terms, step), self.b)

    def _answer(self, value: Value, terms: Terms) -> Value:
        if value is self.form.counter and not terms:
            return self.early
        if value is self.form.counter and terms in self.ahead:
            return self.form.answer(self.ahead[terms], self.b)
        return self._beside(value, lambda v, b: self.form.compare(self._sum(v, terms, b), b))

    def _distance(self, value: Value, terms: Terms, step: Terms) -> Value:
        if value is self.form.counter:
            return self.loop.plus(self.ahead[step], terms, self.b)
        return self._beside(value, lambda v, b: self.form.distance(self._sum(v, (*terms, *step), b), b))

    def _sum(self, value: Value, terms: Terms, b: Builder) -> Value:
        """The sum that is compared, if the counter plus the terms has this value."""
        return self.loop.plus(value, (*terms, *self.form.terms), b)

    def _beside(self, value: Value, build: Callable[[Value, Builder], Value]) -> Value:
        """A value independent of the counter: built before the loop if it is invariant."""
        steady = None if value is self.form.counter else self.loop.steady(value)
        return build(value, self.b) if steady is None else build(steady, Builder(self.loop.before, self.b.span))
