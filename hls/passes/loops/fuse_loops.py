"""Loop fusion: successive loops in a block marked ``loop_fuse`` become one."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from ...analysis.dependence.dependence import Dependence, DependenceTester
from ...analysis.timing import TimingModel
from ...diag import Code, Diagnostic, at_line
from ...ir import Attr, Function, Op, Region, has, is_access, memory_name, regions, walk
from ...ir.clone import clone_function
from ...narrow import present
from ..lowering.if_conversion import flatten
from ..manager import Form, FunctionPass
from ..recurrence.look_ahead_control import carry_ahead
from ..scalar.common_subexpression_elimination import CommonSubexpressionElimination
from ..scalar.constant_folding import ConstantFolding
from .fuse_pair import Between, fuse, same_trips, sort_between
from .merged_attributes import Merged, declared_anew, own_promises, take_over

__all__ = ["FuseLoops"]


@dataclass(frozen=True)
class _Refusal:
    """Why two loops are not fused, and what would help."""

    reason: str
    hint: str


@dataclass(frozen=True)
class FuseLoops(FunctionPass):
    """Loop fusion on request. Before: SSA with `if`; no loop is unrolled yet. After: neighbouring loops of one region
    with equal attribute ``loop_fuse``, (number of the block, depth, 1 if the source declares them independent), are one
    loop, and so are loops inside them down to the depth, unless

    - an operation with an effect stands between, or the second loop uses a result of the first;
    - an iteration of the second would precede an iteration of the first that it depends on: this is not checked if the
      source declares the loops independent;
    - one of them is marked ``nofusion``, or is to be unrolled.

    If the trip counts differ, each body is guarded; with ``timing``, loop control that takes longer than a cycle is
    first computed ahead (look-ahead), as the guards add to it. ``warn`` is told which loops are not fused, ``record``
    which are.
    """

    address_bits: int = 64
    timing: TimingModel | None = None
    warn: Callable[[Diagnostic], None] | None = None
    record: Callable[[Merged], None] | None = None

    name = "fuse-loops"
    requires = frozenset({Form.POINTERS_LOWERED})
    forbids = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which requested neighbours are one loop; those that cannot be one stay."""
        result = clone_function(function)
        if any(Attr.LOOP_FUSE in op.attrs for op in walk(result.body)):
            self._region(result, result.body)
        return result

    def _region(self, function: Function, region: Region) -> None:
        marked = [op for op in region.ops if op.opcode == "loop" and Attr.LOOP_FUSE in op.attrs]
        refused: set[Op] = set()
        while pair := next(
            (
                (a, b)
                for a, b in pairwise(marked)
                if a.attrs[Attr.LOOP_FUSE] == b.attrs[Attr.LOOP_FUSE] and b not in refused
            ),
            None,
        ):
            first, second = pair
            refusal = self._fuse(function, region, first, second)
            if refusal is None:
                marked.remove(second)
            else:
                refused.add(second)
                self._tell(
                    second,
                    f"#pragma loop_fuse: this loop is not fused with the one{at_line(first.span)}: {refusal.reason}",
                    refusal.hint,
                )
        for op in region.ops:
            op.attrs.pop(Attr.LOOP_FUSE, None)
            for inner in op.regions:
                self._region(function, inner)

    def _fuse(self, function: Function, region: Region, first: Op, second: Op) -> _Refusal | None:
        """Fuse two loops, or return why they cannot be fused."""
        group, depth, independent = first.attrs[Attr.LOOP_FUSE]
        between = sort_between(region, first, second)
        refusal = _marks(first, second) or _parted(between, first) or _effects(first, second)
        if refusal is None and not independent:
            refusal = _conflict(function, first, second, self.address_bits)
        if refusal is not None:
            return refusal
        if promises := own_promises(first, second):
            first.attrs[Attr.IVDEP] = promises
            if anew := declared_anew(first, second):
                first.attrs[Attr.ANEW] = anew
        else:
            first.attrs.pop(Attr.IVDEP, None)
        for name in take_over(first, second):
            self._tell(
                second,
                f"#pragma {name} of this loop is ignored: it is fused with the loop{at_line(first.span)}, which has "
                "another value",
                "keep one of them",
            )
        pairs = same_trips(first, second)
        if pairs is None and self.timing is not None:
            for loop in (first, second):
                at = region.ops.index(loop)
                region.ops[at:at] = carry_ahead(loop, self.timing)
            between = sort_between(region, first, second)
        fuse(region, first, second, between, pairs)
        for op in first.regions[0].ops if depth > 1 else ():
            if op.opcode == "loop":
                op.attrs[Attr.LOOP_FUSE] = (group, depth - 1, independent)
        if self.record is not None:
            self.record(Merged(function.name, second.span, first.span, "fused"))
        return None

    def _tell(self, loop: Op, message: str, hint: str) -> None:
        if self.warn is not None:
            self.warn(Diagnostic(message, loop.span, hint, "warning", code=Code.LOOP_PRAGMA_NOT_FOLLOWED))


def _marks(first: Op, second: Op) -> _Refusal | None:
    for loop in (first, second):
        if loop.attrs.get(Attr.NOFUSION):
            return _Refusal(f"the one{at_line(loop.span)} is marked nofusion", "remove one of the pragmas")
        if loop.attrs.get(Attr.UNROLL, 0) not in (0, 1):
            return _Refusal(f"the one{at_line(loop.span)} is to be unrolled", "remove one of the pragmas")
    return None


def _parted(between: Between, first: Op) -> _Refusal | None:
    if between.obstacle is not None:
        what = "another loop" if between.obstacle.opcode == "loop" else "an operation with side effects"
        place = f" (line {between.obstacle.span.line})" if between.obstacle.span else ""
        return _Refusal(f"{what} is between them{place}", "move it before or after both loops")
    if between.needed is not None:
        name = between.needed.name or "a value"
        return _Refusal(
            f"it needs {name}, which is known only after the one{at_line(first.span)} has ended",
            "keep them apart, or compute it in a variable of its own",
        )
    return None


def _effects(first: Op, second: Op) -> _Refusal | None:
    """Effects other than stores are ordered by program order only."""
    found = [
        next((op for op in walk(loop.regions[0]) if has(op, "effect") and op.opcode not in ("store", "fresh")), None)
        for loop in (first, second)
    ]
    if None in found:
        return None
    return _Refusal(
        f"both have effects that others see in order ({present(found[0]).opcode} and {present(found[1]).opcode})",
        "keep them apart",
    )


def _conflict(function: Function, first: Op, second: Op, address_bits: int) -> _Refusal | None:
    """Whether an iteration of ``second`` would precede one of ``first`` that it must follow, tested on a copy in which
    the loops are fused."""
    copy = _fused_copy(function, first, second)
    fused = next((op for op in walk(copy.body) if op.opcode == "loop" and Attr.FUSING in op.attrs), None)
    if fused is None:
        return None  # one iteration only
    tester = DependenceTester(copy, address_bits)
    sides = [
        [op for op in walk(fused.regions[0]) if is_access(op) and op.attrs.get(Attr.FUSING) == side] for side in (1, 2)
    ]
    for one in sides[0]:
        for two in sides[1]:
            for fact in tester.pair(one, two):
                if fact.src is two and fact.loop is fused:
                    return _say(fact)
    return None


def _fused_copy(function: Function, first: Op, second: Op) -> Function:
    """The function, flat, with both loops fused; ``first`` and its accesses are marked 1, ``second`` and its accesses
    2."""
    touched = [op for loop in (first, second) for op in (loop, *walk(loop.regions[0]))]
    for loop, side in ((first, 1), (second, 2)):
        for op in (loop, *walk(loop.regions[0])):
            if op is loop or is_access(op):
                op.attrs[Attr.FUSING] = side
    copy = clone_function(function)
    for op in touched:
        op.attrs.pop(Attr.FUSING, None)
    region = next(
        r for r in regions(copy.body) if any(op.opcode == "loop" and op.attrs.get(Attr.FUSING) == 1 for op in r.ops)
    )
    one, two = (
        next(op for op in region.ops if op.opcode == "loop" and op.attrs.get(Attr.FUSING) == side) for side in (1, 2)
    )
    fuse(region, one, two, sort_between(region, one, two), same_trips(one, two))
    flatten(copy.body)
    return ConstantFolding(flat=True).run(CommonSubexpressionElimination().run(copy))


def _say(fact: Dependence) -> _Refusal:
    names = [memory_name(access) for access in (fact.src, fact.dst)]
    what = {"load": "the load of", "store": "the store to"}
    texts = [f"{what[access.opcode]} {name}{at_line(access.span)}" for access, name in zip((fact.src, fact.dst), names)]
    hint = "where no two such iterations use the same element, write #pragma loop_fuse independent"
    if fact.overlap:
        hint = f"where {names[0]} and {names[1]} never overlap, write restrict"
    return _Refusal(f"{texts[0]} would come before {texts[1]} of a later iteration, and has to follow it", hint)
