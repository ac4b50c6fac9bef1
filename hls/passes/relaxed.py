"""Under -fp-relaxed sums of floats are taken in another order: trees are balanced, and a sum over a loop is kept in parts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from ..diag import Diagnostic
from ..ir import Builder, FloatType, Function, IntType, Op, Region, Value, uses, walk
from ..ir.clone import clone_function
from .flush import flush_of

__all__ = ["BalanceSums", "GuardedTerms", "PartialSums"]

#: neutral in a sum, also beside a negative zero
_NOTHING = -0.0
_MOST = 1000  #: more parts than any addition takes cycles


@dataclass(frozen=True)
class GuardedTerms:
    """Before: selects between a sum and one of its terms, as conditional additions and guards of unrolled copies leave
    them. After: that term plus a guarded rest, ``c ? s + x + y : s`` being ``s + (c ? x + y : -0.0)``.
    """

    name = "guarded-terms"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        for region in [result.body, *(inner for op in walk(result.body) for inner in op.regions)]:
            for op in [op for op in region.ops if op.opcode == "select" and isinstance(op.result.type, FloatType)]:
                self._visit(region, op, uses(result.body))
        return result

    def _visit(self, region: Region, op: Op, used):
        condition, total, otherwise = op.operands
        root = total.op
        if root is None or root.opcode != "fadd" or _only_user(total, used) is not op:
            return
        inner = {each for each in region.ops if each.opcode == "fadd" and _within(each, root, used)}
        leaves = _leaves(root, inner)
        if otherwise not in leaves:
            return
        leaves.remove(otherwise)
        built = Region()
        b = Builder(built, root.span)
        rest = reduce(lambda x, y: b.value("fadd", x, y, attrs=flush_of(root)), leaves)
        guarded = b.value("select", condition, rest, b.const(_NOTHING, rest.type))
        place = region.ops.index(op)
        region.ops[place:place] = built.ops
        op.opcode, op.operands, op.attrs = "fadd", [otherwise, guarded], {**op.attrs, **flush_of(root)}
        for dead in {root, *inner}:  # they would still count as users of what they added
            region.ops.remove(dead)


@dataclass(frozen=True)
class BalanceSums:
    """Before: chains of float additions whose intermediate sums nobody else looks at. After: trees of the least depth with
    as many additions. What a loop carries is added last, so that its recurrence is one addition.

    ``tell`` gets a note for every sum of which the order changed.
    """

    tell: Callable[[Diagnostic], None] | None = None

    name = "balance-sums"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        regions = [result.body, *(inner for op in walk(result.body) for inner in op.regions)]
        used = uses(result.body)
        carried = {arg for op in walk(result.body) if op.opcode == "loop" for arg in op.regions[0].args}
        for region in regions:
            self._region(region, used, carried)
        return result

    def _region(self, region: Region, used, carried):
        own = {op for op in region.ops if op.opcode == "fadd"}
        inner = {op for op in own if _only_user(op.result, used) in own}
        for root in [op for op in region.ops if op in own - inner]:
            leaves = _leaves(root, inner)
            late = [v for v in leaves if v in carried and v not in root.operands]
            if len(leaves) > 2 and (late or _depth(root, inner) > _least_depth(leaves, carried)):
                dead = _tree(root, inner)
                self._rebuild(region, root, leaves, carried)
                region.ops = [op for op in region.ops if op not in dead]

    def _rebuild(self, region: Region, root: Op, leaves: list[Value], carried):
        """The same sum as a tree before ``root``, which becomes its last addition."""
        built = Region()
        b = Builder(built, root.span)
        early, late = ([v for v in leaves if (v in carried) == wanted] for wanted in (False, True))
        while len(early) > (2 if not late else 1):
            early = [b.value("fadd", *pair, attrs=flush_of(root)) if len(pair) == 2 else pair[0]
                     for pair in (early[k:k + 2] for k in range(0, len(early), 2))]
        terms = [*early, *late]
        while len(terms) > 2:
            terms[:2] = [b.value("fadd", *terms[:2], attrs=flush_of(root))]
        root.operands = terms
        place = region.ops.index(root)
        region.ops[place:place] = built.ops
        if self.tell:
            self.tell(Diagnostic(f"a sum of {len(leaves)} terms is taken in another order than written", root.span,
                                 "leave -fp-relaxed out where the order matters", "note"))


def _only_user(value: Value, used) -> Op | None:
    found = used.get(value, [])
    return found[0][0] if len(found) == 1 else None


def _within(op: Op, root: Op, used) -> bool:
    """Whether the sum is a part of ``root`` and of nothing else."""
    while op is not root:
        op = _only_user(op.result, used)
        if op is None or op.opcode != "fadd":
            return False
    return op is root


def _leaves(op: Op, inner: set[Op]) -> list[Value]:
    return [leaf for v in op.operands for leaf in (_leaves(v.op, inner) if v.op in inner else [v])]


def _tree(op: Op, inner: set[Op]) -> set[Op]:
    """The additions below ``op`` that are a part of its sum."""
    below = {v.op for v in op.operands if v.op in inner}
    return below.union(*(_tree(each, inner) for each in below))


def _depth(op: Op, inner: set[Op]) -> int:
    return 1 + max((_depth(v.op, inner) for v in op.operands if v.op in inner), default=0)


def _least_depth(leaves: list[Value], carried) -> int:
    late = sum(v in carried for v in leaves)
    return (len(leaves) - late - 1).bit_length() + late


@dataclass(frozen=True)
class PartialSums:
    """Before: a flat kernel. After: a loop that a launch enters once and that adds to a float in every iteration adds to
    several in turn; a short loop behind it adds them up.

    The parts that wait move on through a ring of carried values, which the planner makes a history. There are as many parts as it
    takes cycles from one addition through a history of that many places to the next (``turnaround(op, parts)``), so that a part is
    written when its turn comes again: an II of 1.
    Loops inside others are left alone: while one invocation waits for its sum, others take turns with it.
    """

    turnaround: Callable[[Op, int], int]
    tell: Callable[[Diagnostic], None] | None = None

    name = "partial-sums"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        used = uses(result.body)
        for loop in [op for op in result.body.ops if op.opcode == "loop"]:
            for k, arg in enumerate(list(loop.regions[0].args)):
                addition = _addition(loop, k, used)
                count = self._parts(addition) if addition else 0
                if count > 2:
                    self._split(result.body, loop, k, count, used)
                    self._say(addition, arg, count)
        return result

    def _parts(self, addition: Op) -> int:
        """The least number of parts that brings an II of 1: a longer history takes longer to read."""
        return next(count for count in range(1, _MOST) if self.turnaround(addition, count) <= count)

    def _say(self, addition: Op, arg: Value, count: int):
        if self.tell:
            name = f"'{arg.name}'" if arg.name else "this value"
            self.tell(Diagnostic(f"the sum {name} is kept in {count} parts, so that an iteration need not wait for the addition of the one before", addition.span,
                                 "leave -fp-relaxed out where the order matters", "note"))

    def _split(self, outer: Region, loop: Op, k: int, count: int, used):
        """Carried value ``k`` is the part whose turn it is; the others wait behind it in a ring."""
        region, end = loop.regions[0], loop.regions[0].terminator
        kind, total = region.args[k].type, end.operands[1 + k]
        before = Region()
        nothing = Builder(before, loop.span).const(_NOTHING, kind)
        outer.ops[outer.ops.index(loop):outer.ops.index(loop)] = before.ops
        waiting = [_carry(region, loop, nothing, region.args[k].name) for _ in range(count - 1)]
        end.operands += [*waiting[1:], total]
        end.operands[1 + k] = waiting[0]
        parts = [loop.results[k], *loop.results[-(count - 1):]]
        users = used.pop(loop.results[k], [])
        if users:
            sum_, ops = _added_up(parts, total.op)
            outer.ops[outer.ops.index(loop) + 1:outer.ops.index(loop) + 1] = ops
            for user, index in users:
                user.operands[index] = sum_


def _addition(loop: Op, k: int, used) -> Op | None:
    """The one operation that takes carried value ``k`` and makes its next value: ``s + x`` or ``s - x``."""
    region = loop.regions[0]
    arg, after = region.args[k], region.terminator.operands[1 + k]
    op = after.op
    if not isinstance(arg.type, FloatType) or op is None or op not in region.ops or op.opcode not in ("fadd", "fsub"):
        return None
    once = all(len(used.get(v, [])) == 1 for v in (arg, after))
    return op if once and (op.operands[0] is arg or op.opcode == "fadd" and op.operands[1] is arg) else None


def _carry(region: Region, loop: Op, initial: Value, name: str) -> Value:
    """A new carried value of the loop; the terminator gets its operand later."""
    arg = Value(initial.type, name, region, len(region.args))
    region.args.append(arg)
    loop.operands.append(initial)
    loop.results.append(Value(initial.type, name, loop, len(loop.results)))
    return arg


def _added_up(parts: list[Value], addition: Op) -> tuple[Value, list[Op]]:
    """The sum of the parts, oldest first, by one addition that a loop uses again; and the operations that make it."""
    outside, body = Region(), Region()
    b, inside = Builder(outside, addition.span), Builder(body, addition.span)
    count = IntType(len(parts).bit_length())
    initial = [*parts, b.const(len(parts) - 1, count)]
    body.args = [Value(v.type, v.name, body, k) for k, v in enumerate(initial)]
    total, *rest, left = body.args
    total = inside.value("fadd", total, rest[0], attrs=flush_of(addition))
    left = inside.value("add", left, inside.const(-1, count))
    again = inside.value("ne", left, inside.const(0, count))
    inside.op("yield", again, total, *rest[1:], rest[0], left)
    ring = b.op("loop", b.true(), *initial, results=[v.type for v in initial], regions=[body],
                attrs={"trip_count": len(parts) - 1})
    return ring.results[0], outside.ops
