"""Loop bounds from subscripts: a counter that indexes an inner dimension of an array stays within that dimension."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...analysis.loops.loop_tree import Induction, Loop
from ...ir import Attr, Builder, Function, Op, Region, Value, has, predicate, uses, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, set_results
from ...ir.values import signed
from ..manager import Form, FunctionPass

__all__ = ["InferLoopBounds"]

#: operations after which the next one executes, besides pure ones
_PASSING = frozenset({"load", "store", "if", "yield"})
#: comparisons that continue a loop: opcode -> (signed, what the comparison adds to its limit)
_COMPARISONS = {"slt": (True, 0), "ult": (False, 0), "sle": (True, -1), "ule": (False, -1)}


@dataclass(frozen=True)
class _Subscript:
    """A subscript ``arg + plus`` of an array of ``extent`` elements."""

    arg: Value
    plus: int
    extent: int
    is_signed: bool


@dataclass(frozen=True)
class InferLoopBounds(FunctionPass):
    """Inference of loop bounds from array subscripts (GCC: ``infer_loop_bounds_from_array``). Before: SSA with `if`;
    subscripts have the attribute ``extent``. After: a loop whose counter is a subscript of an inner dimension in each
    iteration ends at that dimension at the latest: its limit at run time ``n`` is ``n < extent ? n : extent``, and so
    is the start of a counter that runs down. Where the limit is the counter of a loop around, that loop ends there. C
    leaves other subscripts undefined (C11 6.5.6: also where the whole object has that element). Passes behind it see
    in which range the counter is, thus that rows do not overlap.

    A row that a constant chooses limits no loop, as ``a[0][k]`` may be meant to walk over all rows. A constant limit
    stays as it is."""

    name = "infer-loop-bounds"
    requires = frozenset({Form.POINTERS_LOWERED})
    forbids = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy with limits of loops by the extents of dimensions; the function itself if there are none."""
        if not any(Attr.EXTENT in op.attrs for op in walk(function.body)):
            return function
        result = clone_function(function)
        _Limits(result.args, set(uses(result.body))).apply(result.body)
        return result


@dataclass(frozen=True)
class _Limits:
    """Limits the loops of a function, given its arguments and the values that are used."""

    arguments: list[Value]
    used: set[Value]

    def apply(self, region: Region) -> None:
        """Limit the loops of a region, each before those inside, whose limits are compared with its own."""
        before, region.ops = region.ops, []
        for op in before:
            b = Builder(region, op.span)
            starts = self._loop(op, b) if op.opcode == "loop" else {}
            for each in op.regions:
                self.apply(each)
            region.ops.append(op)
            for index, start in starts.items():
                _keep_start(op, index, start, b)

    def _loop(self, op: Op, outside: Builder) -> dict[int, Value]:
        """Limit one loop; returns limited starts as they were, by the index of their carried value:
        where the loop may not be entered, and its result is used."""
        loop = Loop(op, None)
        ends: dict[tuple[Value, bool], int] = {}
        for subscript in _subscripts(loop.body, loop):
            key, end = (subscript.arg, subscript.is_signed), subscript.extent - subscript.plus
            if subscript.arg in loop.inductions and abs(end) < 1 << subscript.arg.type.bits - 1:
                ends[key] = min(end, ends.get(key, end))
        starts: dict[int, Value] = {}
        for (arg, is_signed), end in ends.items():
            induction = loop.inductions[arg]
            if induction.step > 0:
                self._limit(op, induction, end, is_signed, outside)
            elif self._is_open(induction.init):
                if op.results[arg.index] in self.used and constant(op.operands[0]) != 1:
                    starts[arg.index] = induction.init
                op.operands[1 + arg.index] = _least(outside, induction.init, end - 1, is_signed)
        return starts

    def _is_open(self, limit: Value) -> bool:
        """Whether a limit is known at run time only, and is no counter of a loop around, which is limited itself."""
        found = _counter(limit)
        return constant(limit) is None and (found is None or found[0] in self.arguments)

    def _limit(self, op: Op, induction: Induction, end: int, is_signed: bool, outside: Builder) -> None:
        """Let the loop continue only while its counter is less than ``end``."""
        (body,) = op.regions
        last = body.ops.pop()
        following = last.operands[1 + induction.arg.index]
        inside = Builder(body, op.span)
        last.operands[0] = self._limited(last.operands[0], following, end, is_signed, inside)
        body.ops.append(last)
        op.operands[0] = self._limited(op.operands[0], induction.init, end, is_signed, outside)

    def _limited(self, condition: Value, counter: Value, end: int, is_signed: bool, b: Builder) -> Value:
        """The condition, in whose comparisons of the counter a limit at run time is at most ``end``."""
        op = condition.op
        if op is None:
            return condition
        if op.opcode == "and":
            left, right = (self._limited(v, counter, end, is_signed, b) for v in op.operands)
            return condition if [left, right] == op.operands else b.value("and", left, right)
        how = _COMPARISONS.get(op.opcode)
        if how is None or how[0] != is_signed or op.operands[0] is not counter or not self._is_open(op.operands[1]):
            return condition
        return b.value(op.opcode, counter, _least(b, op.operands[1], end + how[1], is_signed))


def _keep_start(loop: Op, index: int, start: Value, b: Builder) -> None:
    """Let a counter be ``start`` after the loop if that is not entered; ``b`` builds behind the loop."""
    end = loop.results[index]
    counted = Value(end.type, end.name)
    set_results(loop, [*loop.results[:index], counted, *loop.results[index + 1 :]])
    set_results(b.value("select", loop.operands[0], counted, start).defining_op, [end])


def _least(b: Builder, value: Value, most: int, is_signed: bool) -> Value:
    """The lesser of a value and a constant."""
    limit = b.const(most, value.type)
    return b.value("select", b.value("slt" if is_signed else "ult", value, limit), value, limit)


def _subscripts(region: Region, loop: Loop) -> Iterator[_Subscript]:
    """Subscripts of inner dimensions that each iteration of the loop has in ``region``, which it executes, before an
    operation that may wait forever; with those of inner loops of which at least one iteration runs."""
    for op in region.ops:
        if op.opcode in ("load", "store") and constant(predicate(op)) == 1:
            yield from _subscripts_of(op)
        elif op.opcode == "loop":
            within = Loop(op, None)
            found = list(_subscripts(within.body, within))
            yield from _greatest(found, within)
            if _entered(op, loop):
                yield from found
        if not _ends(op):
            return


def _greatest(found: Iterable[_Subscript], loop: Loop) -> Iterator[_Subscript]:
    """Of a loop that counts up to a counter of a loop around: the subscript in its last iteration. If there is no
    iteration, that counter is not greater than where the loop starts."""
    for one in found:
        induction, test = loop.inductions.get(one.arg), loop.again.op
        start = None if induction is None or induction.step != 1 else constant(induction.init)
        how = None if test is None or start is None else _COMPARISONS.get(test.opcode)
        if how is None or test is None or test.operands[0] is not loop.following(one.arg) or how[0] != one.is_signed:
            continue
        if induction is None or not _is_rotated(loop, induction):
            continue
        limit = _counter(test.operands[1])
        plus = one.plus - 1 - how[1]
        if limit is not None and start is not None and start < 1 << one.arg.type.bits - 1 and start + plus < one.extent:
            yield _Subscript(limit[0], limit[1] + plus, one.extent, one.is_signed)


def _is_rotated(loop: Loop, induction: Induction) -> bool:
    """Whether a loop is entered in any case, or if its counter passes the comparison that lets it continue."""
    entry, again = loop.op.operands[0].op, loop.again.op
    if constant(loop.op.operands[0]) == 1:
        return True
    return (
        entry is not None
        and again is not None
        and entry.opcode == again.opcode
        and entry.operands[0] is induction.init
        and _equal(entry.operands[1], again.operands[1])
    )


def _ends(op: Op) -> bool:
    """Whether the operation surely ends: it is no call or channel access, and no loop but a `for` of others."""
    if not has(op, "pure") and op.opcode not in _PASSING and op.attrs.get(Attr.FORM) != "for":
        return False
    return all(_ends(each) for region in op.regions for each in region.ops)


def _entered(inner: Op, loop: Loop) -> bool:
    """Whether the inner loop starts in each iteration of the outer one: it is a `do`, or its counter starts below the
    limit of an outer counter from no later a number on."""
    test, entry, again = inner.operands[0].op, loop.op.operands[0].op, loop.again.op
    if constant(inner.operands[0]) == 1:
        return True
    if test is None or entry is None or again is None or not test.opcode == entry.opcode == again.opcode:
        return False
    start = constant(test.operands[0]) if test.opcode in _COMPARISONS else None
    return start is not None and any(
        induction.step > 0
        and (entry.operands[0], again.operands[0]) == (induction.init, loop.following(arg))
        and (first := constant(induction.init)) is not None
        and start <= first < 1 << arg.type.bits - 1
        and _equal(test.operands[1], again.operands[1])
        and _equal(test.operands[1], entry.operands[1])
        for arg, induction in loop.inductions.items()
    )


def _equal(one: Value, other: Value) -> bool:
    """Whether two values are one, or the same arithmetic of such, as before common subexpressions are eliminated."""
    if one is other:
        return True
    a, b = one.op, other.op
    if a is None or b is None or not (has(a, "pure") and a.opcode == b.opcode and a.result.type == b.result.type):
        return False
    return a.attrs == b.attrs and len(a.operands) == len(b.operands) and all(map(_equal, a.operands, b.operands))


def _subscripts_of(access: Op) -> Iterator[_Subscript]:
    """The subscripts that are a counter and a constant, within a row which is chosen at run time."""
    strides = [constant(product.operands[1]) or 0 for product in _products(access)]
    for product in _products(access):
        stride, extent = constant(product.operands[1]), product.attrs.get(Attr.EXTENT)
        if stride is None or extent is None or not any(each >= stride * extent for each in strides):
            continue
        found = _counter(product.operands[0])
        if found is not None:
            yield _Subscript(*found[:2], extent, found[2])


def _counter(index: Value) -> tuple[Value, int, bool] | None:
    """(argument of a loop, what is added to it, whether it is signed) of a subscript."""
    is_signed = True
    if index.op is not None and index.op.opcode in ("sext", "zext"):
        is_signed, index = index.op.opcode == "sext", index.op.operands[0]
    plus = 0
    while index.op is not None and index.op.opcode in ("add", "sub") and Attr.WRAPS not in index.op.attrs:
        left, right = index.op.operands
        if index.op.opcode == "add" and constant(left) is not None:
            left, right = right, left
        number = constant(right)
        if number is None or not is_signed:
            return None
        number = signed(number, right.type.bits)
        plus += number if index.op.opcode == "add" else -number
        index = left
    return (index, plus, is_signed) if index.op is None else None


def _products(access: Op) -> Iterator[Op]:
    """The products that the offset of an access is a sum of."""
    address = access.operands[0].op
    work = list(address.operands) if address is not None and address.opcode == "addr" else []
    while work:
        op = work.pop().op
        if op is None:
            continue
        if op.opcode == "add":
            work += op.operands
        elif op.opcode == "mul":
            yield op
