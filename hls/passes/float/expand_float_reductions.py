"""Reduction expansion (-fp-relaxed): a loop does not wait for the latency of the float additions that it carries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...analysis.induction.state_space import most_iterations
from ...analysis.timing import TimingModel
from ...diag import Code, Diagnostic
from ...ir import Attr, Builder, FloatType, Function, IntType, MemoryObject, Op, Region, Value, uses
from ...ir.clone import clone_function
from ...ir.loops import add_carried, keep_carried
from ...ir.nodes import Parameter
from ...ir.rewrite import literal
from ...narrow import instance
from ..manager import Form, FunctionPass
from ..scalar.constant_folding import ConstantFolding
from ..scalar.dead_code_elimination import DeadCodeElimination
from .kulisch import DIGITS, Accumulator, start_of, step
from .kulisch_round import rounded_sum
from .partial_sums import split

__all__ = ["ExpandFloatReductions"]

_MOST = 1000  #: more parts than any addition takes cycles
#: upper bound for the iterations of loops without a known one: no run has more
_MOST_ITERATIONS = 1 << 64


@dataclass(frozen=True)
class _Parts:
    """A sum in several partial sums."""

    count: int

    def text(self) -> str:
        return f"split into {self.count} partial sums"


@dataclass(frozen=True)
class _Exact:
    """A sum as a long integer."""

    shape: Accumulator

    def text(self) -> str:
        return f"accumulated exactly in {self.shape.places} bits by digits of {self.shape.digit}"


@dataclass(frozen=True)
class ExpandFloatReductions(FunctionPass):
    """Reduction expansion: accumulator expansion into rotating partial sums, or a Kulisch accumulator. Before: a flat
    kernel with memory tokens. After: a loop that is entered once in a launch and adds to a float in every iteration
    keeps the sum as partial sums in rotation, or as a long integer; a short loop after it converts either to one float.

    The number of partial sums is the latency from one addition, through a delay line of that many stages, to the next
    (according to ``timing``), so that each partial sum has been written when it is used again: an II of 1. The integer
    needs no rounding in the loop, so it takes a term every cycle if an addition of one digit fits into a cycle
    (according to ``timing``). ``logic`` estimates the logic cells (named by ``cells``) of a function: it is applied
    to a kernel that contains only the sum, once for each form, and the smallest form is chosen. The candidates are
    partial sums, if ``parts`` is set or no other form is possible, and integers with each of the digit widths in
    ``digits``. Inner loops are left alone: other invocations interleave while one waits for its sum.
    """

    timing: TimingModel
    logic: Callable[[Function], int]
    cells: str = "logic cells"
    tell: Callable[[Diagnostic], None] | None = None
    parts: bool = True
    digits: tuple[int, ...] = (16, 32)

    name = "expand-float-reductions"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which sums whose additions limit the loop are kept in several parts, or in an accumulator."""
        result = clone_function(function)
        used, changed = uses(result.body), False
        for loop in [op for op in result.body.ops if op.opcode == "loop"]:
            for arg in list(loop.regions[0].args):
                addition = _addition(loop, arg.index, used)
                if addition and (parts := self._least(addition)).count > 2:
                    form = self._choose(addition, arg, loop, parts)
                    _apply(result.body, loop, arg.index, addition, form, used.get(loop.results[arg.index], []))
                    changed = True
        return DeadCodeElimination().run(ConstantFolding(flat=True).run(result)) if changed else result

    def _least(self, addition: Op) -> _Parts:
        """The least number of partial sums that reaches an II of 1: a longer delay line takes longer to read."""
        return _Parts(next(count for count in range(1, _MOST) if self.timing.turnaround(addition, count) <= count))

    def _choose(self, addition: Op, arg: Value, loop: Op, parts: _Parts) -> "_Parts | _Exact":
        exact = self._exact(addition, loop)
        forms: list[_Parts | _Exact] = [*([parts] if self.parts or not exact else []), *exact]
        if len(forms) == 1:
            self._say(addition, arg, forms[0], "")
            return forms[0]
        costs = {form: self.logic(_alone(addition, loop.operands[1 + arg.index], form)) for form in forms}
        best = min(forms, key=costs.__getitem__)
        others = " or ".join(f"{costs[form]:,} {form.text()}" for form in forms if form is not best)
        self._say(addition, arg, best, f" (about {costs[best]:,} {self.cells}; {others})")
        return best

    def _exact(self, addition: Op, loop: Op) -> list[_Exact]:
        """Every shape of a long integer to which a term can be added in one cycle."""
        kind = addition.result.type
        # the initial value of the sum is a term, too
        terms = min(most_iterations(loop) or _MOST_ITERATIONS, _MOST_ITERATIONS) + 1
        shapes = [
            Accumulator(instance(kind, FloatType), digit, terms, bool(addition.attrs.get(Attr.FLUSH_DENORMALS)))
            for digit in DIGITS.get(kind.bits, ())
            if digit in self.digits
        ]
        return [
            _Exact(shape) for shape in shapes if self.timing.turnaround(_addition_of(max(shape.widths) + 2), 1) == 1
        ]

    def _say(self, addition: Op, arg: Value, form: "_Parts | _Exact", costs: str) -> None:
        if self.tell:
            name = f"'{arg.name}'" if arg.name else "this value"
            self.tell(
                Diagnostic(
                    f"the sum {name} is {form.text()}, so that an iteration does not wait for the addition of the "
                    f"previous one{costs}",
                    addition.span,
                    "leave -fp-relaxed out where the order matters",
                    "note",
                    code=Code.FLOAT_ORDER,
                )
            )


def _addition_of(bits: int) -> Op:
    """An integer addition, whose delay is looked up."""
    b = Builder(Region())
    x = Value(IntType(bits))
    return b.op("add", x, x)


def _addition(loop: Op, k: int, used: Mapping[Value, list[tuple[Op, int]]]) -> Op | None:
    """The only operation that uses carried value ``k``, if it computes the next value: ``s + x`` or ``s - x``."""
    region = loop.regions[0]
    arg, after = region.args[k], region.terminator.operands[1 + k]
    op = after.op
    if not isinstance(arg.type, FloatType) or op is None or op not in region.ops or op.opcode not in ("fadd", "fsub"):
        return None
    once = all(len(used.get(v, [])) == 1 for v in (arg, after))
    return op if once and (op.operands[0] is arg or op.opcode == "fadd" and op.operands[1] is arg) else None


def _apply(outer: Region, loop: Op, k: int, addition: Op, form: _Parts | _Exact, users: list[tuple[Op, int]]) -> None:
    """Change the sum in carried value ``k`` of a loop in ``outer`` to ``form``; ``users`` are the users of the loop's
    result."""
    if isinstance(form, _Parts):
        sum_ = split(outer, loop, k, form.count)
    else:
        sum_ = _accumulate(outer, loop, k, addition, form.shape)
    for user, index in users:
        user.operands[index] = sum_


def _accumulate(outer: Region, loop: Op, k: int, addition: Op, shape: Accumulator) -> Value:
    """Carried value ``k`` becomes the digits and flags of an exact sum. Returns the float computed after the loop."""
    region, arg = loop.regions[0], loop.regions[0].args[k]
    before, inside, behind = Region(), Region(), Region()
    start = start_of(Builder(before, addition.span), shape, loop.operands[1 + k])
    _insert(outer, loop, before)
    state = [add_carried(loop, value, arg.name, result=Value(value.type, arg.name)) for value in start]
    term = addition.operands[1] if addition.operands[0] is arg else addition.operands[0]
    now = [each.arg for each in state]
    nexts = step(Builder(inside, addition.span), shape, now, term, addition.opcode == "fsub")
    for each, following in zip(state, nexts, strict=True):
        each.set_next(following)
    place = region.ops.index(addition)
    region.ops[place : place + 1] = inside.ops
    sum_ = rounded_sum(Builder(behind, addition.span), shape, [each.result for each in state])
    _insert(outer, outer.ops[outer.ops.index(loop) + 1], behind)
    keep_carried(loop, [j for j in range(len(region.args)) if j != k])
    return sum_


def _insert(region: Region, before: Op, new: Region) -> None:
    place = region.ops.index(before)
    region.ops[place:place] = new.ops


def _alone(addition: Op, start: Value, form: _Parts | _Exact) -> Function:
    """A kernel that computes such a sum of cheap operands and stores it; its cost is that of the sum."""
    kind, count = addition.result.type, IntType(32)
    memory = MemoryObject("sum", "global", kind)
    trips, given = Value(count, "n"), Value(kind, "start")
    function = Function(
        "alone", "kernel", [Parameter("sum", "buffer", "__global float *", 8)], memories={"sum": memory}
    )
    function.params += [Parameter("n", "scalar", "int", 4), Parameter("start", "scalar", "float", kind.bytes)]
    function.args = [trips, given]
    for k, value in enumerate(function.args):
        value.owner, value.index = function.body, k
    b, body = Builder(function.body, addition.span), Region()
    begin = given if literal(start) is None else b.const(literal(start), kind)
    initial = [b.const(0, count), begin]
    body.args = [Value(v.type, "", body, k) for k, v in enumerate(initial)]
    inside = Builder(body, addition.span)
    number, total = body.args
    following = inside.value("add", number, inside.const(1, count))
    bits = number if kind.bits == 32 else inside.value("trunc", number, result=IntType(kind.bits))
    sum_ = inside.op(addition.opcode, total, inside.value("bitcast", bits, result=kind), attrs=dict(addition.attrs))
    inside.op("yield", inside.value("ne", following, trips), following, sum_.result)
    loop = b.op("loop", b.true(), *initial, results=[v.type for v in initial], regions=[body])
    store = b.op("store", b.addr("sum"), loop.results[1], b.true())
    b.op("return")
    _apply(function.body, loop, 1, sum_, form, [(store, 1)])
    return DeadCodeElimination().run(ConstantFolding(flat=True).run(function))
