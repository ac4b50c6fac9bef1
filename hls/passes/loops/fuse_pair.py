"""Fusion of two loops of one region: an iteration of the fused loop executes one iteration of each."""

from dataclasses import dataclass

from ...analysis.induction.trip_count import count_trips
from ...ir import BOOL, Builder, Op, Region, Value, has, uses, walk
from ...ir.clone import clone_ops
from ...ir.loops import CarriedValue, add_carried
from ...ir.rewrite import literal
from ...narrow import present

__all__ = ["Between", "fuse", "same_trips", "sort_between"]


#: most operations that are copied so that a counter continues after its loop's end
_MOST_COPIED = 8


@dataclass(frozen=True)
class Between:
    """The operations between two loops: ``early`` move before the first, ``late`` after the second. ``obstacle`` is one
    that can move to neither, ``needed`` a value of the first loop that the second one uses."""

    early: tuple[Op, ...] = ()
    late: tuple[Op, ...] = ()
    obstacle: Op | None = None
    needed: Value | None = None


def sort_between(region: Region, first: Op, second: Op) -> Between:
    """Where the operations between the two loops of the region would move, and what prevents it."""
    early, late, changing = [], [], set(first.results)
    for op in region.ops[region.ops.index(first) + 1 : region.ops.index(second)]:
        if not has(op, "pure"):
            return Between(obstacle=op)
        if changing.intersection(op.operands):
            late.append(op)
            changing.update(op.results)
        else:
            early.append(op)
    used = {v: None for op in (second, *walk(second.regions[0])) for v in op.operands}
    needed = next((v for v in used if v in changing), None)
    return Between(tuple(early), tuple(late), needed=needed)


def same_trips(first: Op, second: Op) -> dict[int, int] | None:
    """Carried values of ``second`` that always equal one of ``first``, by their indices, if both loops have the same
    trip count; None if that is not known.

    Either both trip counts are known, or both exit conditions are computed in the same way from equal values.
    """
    pairs = _Pairs(first, second)
    if pairs.control():
        return pairs.found
    trips = [count_trips(loop) for loop in (first, second)]
    known = (
        None not in trips
        and all(present(t).exact for t in trips)
        and present(trips[0]).count == present(trips[1]).count
    )
    return {} if known and pairs.equal(first.operands[0], second.operands[0]) else None


class _Pairs:
    """Compares the exit conditions of two loops; ``found`` are the carried values that are equal if these are."""

    def __init__(self, first: Op, second: Op) -> None:
        self.first, self.second = first, second
        (self.body,), (self.other,) = first.regions, second.regions
        self.found: dict[int, int] = {}

    def control(self) -> bool:
        """Whether the exit conditions are equal, by induction: values are assumed equal until a difference is found;
        those of the next iteration follow from those of this one."""
        ends = self.body.terminator.operands, self.other.terminator.operands
        work, seen = [(self.first.operands[0], self.second.operands[0]), (ends[0][0], ends[1][0])], set()
        while work:
            pair = one, two = work.pop()
            if pair in seen or self.equal(one, two):
                continue
            seen.add(pair)
            if one.owner is self.body and two.owner is self.other:
                if self.found.setdefault(two.index, one.index) != one.index:
                    return False
                work += [
                    (self.first.operands[1 + one.index], self.second.operands[1 + two.index]),
                    (ends[0][1 + one.index], ends[1][1 + two.index]),
                ]
            elif _alike(one, two):
                work += zip(one.defining_op.operands, two.defining_op.operands, strict=True)
            else:
                return False
        return True

    def equal(self, one: Value, two: Value) -> bool:
        """Whether two values from outside both loops, or constants, are the same."""
        if one is two:
            return True
        return literal(one) is not None and one.type == two.type and repr(literal(one)) == repr(literal(two))


def _alike(one: Value, two: Value) -> bool:
    """Whether both are the result of the same pure operation, whatever its operands."""
    if one.op is None or two.op is None or one.type != two.type or not has(one.op, "pure"):
        return False
    return (one.op.opcode, one.op.attrs, len(one.op.operands)) == (two.op.opcode, two.op.attrs, len(two.op.operands))


def fuse(region: Region, first: Op, second: Op, between: Between, pairs: dict[int, int] | None) -> None:
    """Merge ``second`` into ``first`` and remove it; both are operations of the region, which is changed in place.

    ``between`` says where the operations between them move. ``pairs`` is the result of :func:`same_trips`; None: the
    trip counts may differ, and each body is guarded.
    """
    begin, end = region.ops.index(first), region.ops.index(second)
    before = Region(ops=[*region.ops[:begin], *between.early])
    used = set(uses(region))
    unused = [{k for k, v in enumerate(loop.results) if v not in used} for loop in (first, second)]
    if pairs is None:
        _guarded(first, second, unused, Builder(before, first.span))
        pairs = {}
    else:
        _together(first, second, pairs)
    following = [*between.late, *region.ops[end + 1 :]]
    region.ops = [*before.ops, first, *following]
    replaced = {second.results[two]: first.results[one] for two, one in pairs.items()}
    for op in walk(Region(ops=following)):
        op.operands = [replaced.get(v, v) for v in op.operands]


def _together(first: Op, second: Op, pairs: dict[int, int]) -> None:
    """Execute both bodies in every iteration."""
    (body,), (other,) = first.regions, second.regions
    last = body.ops.pop()
    rest = [k for k in range(len(other.args)) if k not in pairs]
    adopted = _adopt(first, second, rest)
    values = {other.args[two]: body.args[one] for two, one in pairs.items()}
    copies = clone_ops(other.ops, values | {other.args[k]: each.arg for k, each in adopted.items()})
    again = copies.pop()
    body.ops += [*copies, last]
    for k, each in adopted.items():
        each.set_next(again.operands[1 + k])


def _adopt(first: Op, second: Op, indices: list[int]) -> dict[int, CarriedValue]:
    """Let ``first`` carry these values of ``second``, too; the results of ``second`` become its results."""
    (other,) = second.regions
    return {
        k: add_carried(first, second.operands[1 + k], other.args[k].name, result=second.results[k]) for k in indices
    }


def _guarded(first: Op, second: Op, unused: list[set[int]], before: Builder) -> None:
    """Guard each body by a carried bit: whether this is an iteration of its loop."""
    (body,), (other,) = first.regions, second.regions
    own = list(body.args), [each.arg for each in _adopt(first, second, list(range(len(other.args)))).values()]
    enables = [first.operands[0], second.operands[0]]
    guards = [add_carried(first, enable, "runs").arg for enable in enables]
    first.operands[0] = before.value("or", *enables)
    bodies = body.ops, clone_ops(other.ops, dict(zip(other.args, own[1], strict=True)))
    body.ops, b = [], Builder(body, first.span)
    found = [_under(guard, ops, args, free, b) for guard, ops, args, free in zip(guards, bodies, own, unused)]
    again = [results[0] for results in found]
    b.op("yield", b.value("or", *again), *(v for results in found for v in results[1:]), *again)


def _under(guard: Value, ops: list[Op], args: list[Value], free: set[int], b: Builder) -> list[Value]:
    """A body under its guard: whether it continues, and its carried values. The final values of ``free`` indices are
    not used: if computed from carried values alone, they continue to advance, so that a counter remains one."""
    otherwise = Region()
    o = Builder(otherwise, b.span)
    end = ops[-1]
    nexts = [_advanced(end.operands[1 + k], arg, ops, o) if k in free else arg for k, arg in enumerate(args)]
    o.op("yield", o.const(0, BOOL), *nexts)
    return b.op("if", guard, results=[v.type for v in end.operands], regions=[Region(ops=ops), otherwise]).results


def _advanced(following: Value, arg: Value, ops: list[Op], o: Builder) -> Value:
    """A copy of the operations that compute ``following``; ``arg`` unless these are only a few pure operations."""
    needed: list[Op] = []
    work = [following]
    while work:
        op = work.pop().op
        if op is None or op not in ops or op in needed:
            continue
        if not has(op, "pure") or len(needed) == _MOST_COPIED:
            return arg
        needed.append(op)
        work += op.operands
    values: dict[Value, Value] = {}
    o.region.ops += clone_ops([op for op in ops if op in needed], values)
    return values.get(following, following)
