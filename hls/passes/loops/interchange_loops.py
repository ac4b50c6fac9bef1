"""Loop interchange: a nest whose inner loop is a recurrence, and whose outer iterations come one after the other."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import product

from ...analysis.dependence.dependence import DependenceTester
from ...analysis.loops.loop_tree import Loop
from ...ir import Attr, Function, Op, Region, Value, is_access, may_share, memory_name, regions, walk
from ...ir.clone import clone_function, clone_ops
from ...narrow import present
from ..lowering.if_conversion import flatten
from ..manager import Form, FunctionPass
from ..scalar.common_subexpression_elimination import CommonSubexpressionElimination
from ..scalar.constant_folding import ConstantFolding
from .carried_in_memory import carry_in_memory
from .merged_attributes import Merged
from .triangular_nest import TriangularNest, only_loop, triangular_nest

__all__ = ["InterchangeLoops"]

#: parts of a nest: before the inner loop, the inner loop, and behind it
_AHEAD, _INNER, _BEHIND = 1, 2, 3
#: added to the part of an access to an element that a value is kept in
_KEPT = 3


@dataclass(frozen=True)
class InterchangeLoops(FunctionPass):
    """Loop interchange of triangular nests (Allen and Kennedy 1984). Before: SSA with `if`; no loop is unrolled yet.
    After: a loop with the attribute ``loop_interchange``, in the form of :class:`TriangularNest`, is two: one that
    executes what stands before the inner loop, and a nest in which each iteration executes what stands behind the inner
    loop, and then the inner iterations of its number of all later outer iterations::

        for (i...) { A(i); for (j < i) S(i, j); B(i); }

        for (i...) A(i);
        for (j...) { B(j); for (i > j) S(i, j); }

    Iterations of the inner loop, which each needed the one before, belong to different outer iterations then. Nothing
    is changed if two iterations that access one byte, one of which stores it, would be in another order. A value that
    the inner loop carries is kept in an element that is stored behind it (:func:`carry_in_memory`). ``record`` is
    told of the first of the two loops, which has the place of its first store.
    """

    address_bits: int = 64
    record: Callable[[Merged], None] | None = None

    name = "interchange-loops"
    requires = frozenset({Form.POINTERS_LOWERED})
    forbids = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which requested nests are interchanged; those that cannot be stay."""
        result = clone_function(function)
        while (found := _asked(result)) is not None:
            attempt = clone_function(result)
            del found[1].attrs[Attr.LOOP_INTERCHANGE]
            region, loop = present(_asked(attempt))
            del loop.attrs[Attr.LOOP_INTERCHANGE]
            inner = only_loop(loop.regions[0])
            kept = None if inner is None else carry_in_memory(loop, inner)
            nest = None if kept is None else triangular_nest(loop)
            if nest is not None and kept is not None and _keeps_order(attempt, nest, kept, self.address_bits):
                self._interchange(function.name, nest, region)
                result = attempt
        return result

    def _interchange(self, kernel: str, nest: TriangularNest, region: Region) -> None:
        first = _interchange(nest)
        if first is None:
            return
        region.ops.insert(region.ops.index(nest.outer), first)
        if self.record is not None:
            self.record(Merged(kernel, first.span, nest.outer.span, "split"))


def _asked(function: Function) -> tuple[Region, Op] | None:
    """The first loop that is to be interchanged, and its region."""
    found = ((region, op) for region in regions(function.body) for op in region.ops)
    return next((one for one in found if Attr.LOOP_INTERCHANGE in one[1].attrs), None)


def _interchange(nest: TriangularNest) -> Op | None:
    """Interchange the loops, in place; returns the loop that is to stand before the nest, if there is one."""
    outer, inner, (body,) = nest.outer, nest.inner, nest.outer.regions
    end = body.terminator
    first = _loop(outer, outer.operands, body.args, nest.ahead, nest.control, end) if nest.ahead else None
    if first is not None:
        first.span = next(op.span for op in walk(first.regions[0]) if op.opcode == "store")
        first.attrs = {Attr.LABEL: outer.attrs.get(Attr.LABEL, "")}
    (deep,) = inner.regions
    values = dict(zip(deep.args, [body.args[nest.number]], strict=True))
    ops = [*nest.shared, *(op for op in deep.ops if op is not deep.terminator)]
    later = _loop(inner, end.operands, body.args, ops, nest.control, end, values)
    needed = {*nest.control, *nest.behind}
    body.ops = [*(op for op in body.ops if op in needed), later, end]
    outer.attrs[Attr.INTERCHANGED] = True
    return first


def _loop(
    like: Op,
    operands: list[Value],
    args: list[Value],
    ops: list[Op] | tuple[Op, ...],
    control: tuple[Op, ...],
    end: Op,
    values: dict[Value, Value] | None = None,
) -> Op:
    """A loop with the attributes of ``like`` that executes copies of the operations, and carries copies of ``args``
    from ``operands`` on, as ``control`` and ``end`` say."""
    body = Region()
    loop = Op("loop", list(operands), [], dict(like.attrs), [body], like.span)
    loop.results = [Value(arg.type, arg.name, loop, k) for k, arg in enumerate(args)]
    body.args = [Value(arg.type, arg.name, body, k) for k, arg in enumerate(args)]
    values = (values or {}) | dict(zip(args, body.args, strict=True))
    body.ops = clone_ops([*dict.fromkeys([*ops, *control]), end], values)
    return loop


def _keeps_order(function: Function, nest: TriangularNest, kept: Collection[Op], address_bits: int) -> bool:
    """Whether all accesses of one byte, one of which stores it, stay in order, and no other access meets one of
    ``kept`` in the meantime."""
    if any(function.memories[memory_name(op)].volatile for part in nest.accesses() for op in part):
        return False
    copy = _flat_copy(function, nest, kept)
    tester = DependenceTester(copy, address_bits)
    marked = {op: op.attrs[Attr.NEST_PART] for op in walk(copy.body) if Attr.NEST_PART in op.attrs}
    accesses = [(op, part) for op, part in marked.items() if is_access(op)]
    loops = {part: tester.tree.loops[op] for op, part in marked.items() if op.opcode == "loop"}
    if loops.keys() != {_AHEAD, _INNER} or len(accesses) != sum(map(len, nest.accesses())):
        return False  # a loop of one iteration, or of none, or a condition that is never true
    outer, inner = loops[_AHEAD], loops[_INNER]
    mine, others = ([op for op, part in accesses if (part > _KEPT) is own and part != _AHEAD] for own in (True, False))
    homes = {op for op in others if marked[op] == _BEHIND and op.opcode == "store"}
    if any(_meet(tester, outer, one, other) for one, other in product(mine, others) if other not in homes):
        return False
    parts = [(op, part - _KEPT if part > _KEPT else part) for op, part in accesses]
    return not any(_turned(tester, outer, inner, src, dst) for src, dst in product(parts, repeat=2))


def _meet(tester: DependenceTester, outer: Loop, one: Op, other: Op) -> bool:
    """Whether two accesses, one of which stores, may touch one byte in the same iteration of the outer loop."""
    memories = [tester.function.memories[memory_name(op)] for op in (one, other)]
    if one.opcode == other.opcode == "load":
        return False
    return tester.meets_within(one, other, outer) if memories[0] is memories[1] else may_share(*memories)


def _turned(tester: DependenceTester, outer: Loop, inner: Loop, src: tuple[Op, int], dst: tuple[Op, int]) -> bool:
    """Whether ``dst``, in a later outer iteration than ``src``, may need to follow it, and would come before it."""
    (one, early), (two, late) = src, dst
    if one.opcode == two.opcode == "load" or early == _AHEAD or late == _BEHIND:
        return False  # what stands before the inner loop comes first, and what stands behind it keeps its place
    memories = [tester.function.memories[memory_name(op)] for op in (one, two)]
    if memories[0] is not memories[1]:
        return may_share(*memories)
    # new order: by the inner iteration, which for what stands behind the inner loop is the number of the outer one
    earlier = [] if late == _AHEAD else [((inner, "dst"), (inner if early == _INNER else outer, "src"))]
    return tester.meets(one, two, outer, earlier)


def _flat_copy(function: Function, nest: TriangularNest, kept: Collection[Op]) -> Function:
    """The function, flat; the accesses of the nest are marked with their parts (``_KEPT`` more for those of ``kept``),
    the outer loop as the first, and the inner one as the second."""
    marks = [(nest.outer, _AHEAD), (nest.inner, _INNER)]
    for part, ops in zip((_AHEAD, _INNER, _BEHIND), nest.accesses(), strict=True):
        marks += [(op, part + _KEPT * (op in kept)) for op in ops]
    for op, part in marks:
        op.attrs[Attr.NEST_PART] = part
    copy = clone_function(function)
    for op, _ in marks:
        del op.attrs[Attr.NEST_PART]
    flatten(copy.body)
    return ConstantFolding(flat=True).run(CommonSubexpressionElimination().run(copy))
