"""Reduction privatization: an inner loop accumulates from the identity, and its result is combined outside."""

from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...analysis.memory.clobbers import Clobbers
from ...ir import BOOL, Builder, Function, IntType, Op, Region, Value, has, loops_inside_out, walk
from ...ir.associative import emit, neutral, pair_of
from ...ir.clone import clone_function
from ...ir.rewrite import constant, resolve
from ...ir.wrapping import keep_wrapping
from ...narrow import instance, present
from ..manager import Form, FunctionPass

__all__ = ["PrivatizeReductions"]


@dataclass(frozen=True)
class PrivatizeReductions(FunctionPass):
    """Reduction privatization. Before: flat, recurrences short. After: a loop (innermost loops first) that carries
    ``s`` of the outer loop only to return ``s + x`` starts from 0, and its sum is added to ``s`` after it. The same
    holds for products, logic, and min/max of integers.

    The outer loop then has ``s`` only in an addition of its own. Otherwise its next iteration, whose inner loop starts
    from ``s``, would have to wait for all inner iterations, and invocations of the inner loop could not interleave.

    An element of memory that the inner loop starts from, and that is stored behind it, is ``s`` of whichever outer
    iteration comes to that element again: it is loaded behind the inner loop. If a minimum or maximum is only stored
    where it changes, so it is where that of the inner loop changes it.
    """

    name = "privatize-reductions"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which inner loops start from the neutral element, and outer loops add their results."""
        result = clone_function(function)
        bodies = {loop.regions[0] for _, loop in loops_inside_out(result.body)}
        clobbers = Clobbers(result)  # only loads are moved
        for region, loop in list(loops_inside_out(result.body)):
            if region in bodies:
                _sum_alone(region, loop, clobbers)
        return result


def _sum_alone(region: Region, loop: Op, clobbers: Clobbers) -> None:
    """Privatize the reductions that ``loop`` carries for the outer loop, whose body is ``region``."""
    together = None
    for k, (start, after) in enumerate(zip(loop.operands[1:], loop.results, strict=True)):
        changed = _changed(loop, k)
        kind = _kind(loop.regions[0], k, None if changed is None else changed.note)
        if kind is None:
            continue
        together = components(region) if together is None else together
        if start in together and together[start] == together.get(after):
            _add_behind(region, loop, k, kind, changed)
            together = None
        elif _updates_element(region, loop, start, clobbers):
            _add_behind(region, loop, k, kind, changed)
            region.ops.remove(present(start.op))
            region.ops.insert(region.ops.index(loop) + 1, present(start.op))
            together = None


def _updates_element(region: Region, loop: Op, start: Value, clobbers: Clobbers) -> bool:
    """Whether ``start`` is an element that is loaded in ``region`` for the loop alone, may as well be loaded behind it,
    and is replaced there."""
    load = start.op
    if load is None or load not in region.ops or not clobbers.plain(load):
        return False
    at, place = region.ops.index(load), region.ops.index(loop)
    return (
        any(op.opcode == "store" and op.operands[0] is load.operands[0] for op in region.ops[place:])
        and sum(op.operands.count(start) for op in walk(region)) == 1
        and not clobbers.among(load, region.ops[at : place + 1])
    )


@dataclass(frozen=True)
class _Changed:
    """The carried bit ``k`` of a loop: whether ``comparison`` has held in an iteration, which ``note`` notes."""

    k: int
    comparison: Op
    note: Op


def _changed(loop: Op, k: int) -> _Changed | None:
    """The carried bit that says whether a minimum or maximum, carried value ``k``, has been replaced: one comes with an
    element that is only stored if it changes. A bit that says whether it has been kept is none: some iteration may
    keep a value that an earlier one took."""
    (body,) = loop.regions
    op, (_, *following) = body.terminator.operands[1 + k].op, body.terminator.operands
    compared = _comparison(op) if op is not None and op.operands[-1:] == [body.args[k]] else []
    for at, (arg, start, value) in enumerate(zip(body.args, loop.operands[1:], following, strict=True)):
        note = value.op
        if compared and note is not None and note.opcode == "or" and constant(start) == 0 and arg.type == BOOL:
            of = [v for each in walk(body) for v in each.operands if v in (arg, value)]
            if {*note.operands} == {arg, compared[0].result} and sorted(map(of.count, (arg, value))) == [1, 1]:
                return _Changed(at, compared[0], note)
    return None


def _kind(body: Region, k: int, note: Op | None) -> str | None:
    """The only operation that the body applies to carried value ``k``, and to its result; None if there are others
    besides ``note``."""
    carried, following = body.args[k], body.terminator.operands[1 + k]
    op = following.op
    pair = pair_of(op)
    if pair is None and op is not None and op.opcode == "sub" and [v is carried for v in op.operands] == [True, False]:
        kind, parts = "add", {op}
    elif pair is not None and (pair.left is carried) != (pair.right is carried):
        kind, parts = pair.kind, {present(op), *_comparison(present(op))}
    else:
        return None
    mine = {carried, following, *(part.result for part in parts)}
    wanted = [(user, place) for user in walk(body) for place, value in enumerate(user.operands) if value in mine]
    known = {*parts, note}
    if any(user not in known and (user, place) != (body.terminator, 1 + k) for user, place in wanted):
        return None
    return kind


def _comparison(op: Op) -> list[Op]:
    """The comparison of a min/max."""
    compare = op.operands[0].op if op.opcode == "select" else None
    return [compare] if compare is not None and has(compare, "compare") else []


def _add_behind(region: Region, loop: Op, k: int, kind: str, changed: _Changed | None) -> None:
    (body,), start, total = loop.regions, loop.operands[1 + k], loop.results[k]
    before, behind = Builder(Region(), loop.span), Builder(Region(), body.terminator.operands[1 + k].defining_op.span)
    loop.operands[1 + k] = neutral(kind, instance(start.type, IntType), before)
    joined = {total: emit(kind, start, total, behind)}
    keep_wrapping(present(body.terminator.operands[1 + k].op), present(joined[total].op))
    if changed is not None:
        sides = [start if v is body.args[k] else total for v in changed.comparison.operands]
        differs = behind.value(changed.comparison.opcode, *sides)
        joined[loop.results[changed.k]] = behind.value("and", loop.operands[0], differs)
    resolve(region, joined)
    place = region.ops.index(loop)
    region.ops[place : place + 1] = [*before.region.ops, loop, *behind.region.ops]
