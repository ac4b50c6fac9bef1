"""Loop coalescing: nests marked ``loop_coalesce`` become one loop."""

from collections.abc import Callable
from dataclasses import dataclass

from ...analysis.timing import TimingModel
from ...diag import Code, Diagnostic, at_line
from ...ir import Attr, Builder, Function, Op, Region
from ...ir.clone import clone_function
from ...ir.rewrite import rewrite
from ..manager import Form, FunctionPass
from ..recurrence.look_ahead_control import carry_ahead
from .flatten_pair import merge_nest
from .flatten_tested_pair import merge_tested_nest
from .merged_attributes import Merged, common_promises, declared_anew, take_over

__all__ = ["CoalesceLoops", "join_nest"]


@dataclass(frozen=True)
class CoalesceLoops(FunctionPass):
    """Loop coalescing on request (Polychronopoulos 1987). Before: SSA with `if`; no loop is unrolled yet. After: a loop
    whose attribute ``loop_coalesce`` is N is one loop with the N - 1 levels inside it (-1: with all of them). It runs
    one iteration for each iteration of the innermost loop, and one for each invocation of the innermost loop that has
    none.

    With ``timing``, loop control that takes longer than a cycle is first computed ahead (look-ahead), as selecting
    between another iteration and another invocation adds to it. Operations before and after the inner loop execute in
    its first and last iteration. A nest extends as deep as each body contains exactly one loop, which is not to be
    unrolled and not under a condition. ``warn`` is told if a nest is less deep than requested, ``record`` which loop
    became part of which.

    A loop with the attribute ``flatten_by_test`` is merged with the one inside it in another way: by the test of that
    one (:mod:`.flatten_tested_pair`). One with ``flatten_by_end`` is coalesced with the one inside it; planning, which
    asks for both, finds in the record that it did.
    """

    timing: TimingModel | None = None
    warn: Callable[[Diagnostic], None] | None = None
    record: Callable[[Merged], None] | None = None

    name = "coalesce-loops"
    requires = frozenset({Form.POINTERS_LOWERED})
    forbids = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which nests with the attribute are single loops; a nest that cannot be one stays."""
        result = clone_function(function)

        def visit(op: Op, b: Builder) -> None:
            if op.opcode == "loop" and Attr.LOOP_COALESCE in op.attrs:
                self._coalesce(function.name, op, b.region)
            elif op.opcode == "loop" and op.attrs.pop(Attr.FLATTEN_BY_TEST, False):
                inner = merge_tested_nest(result, op, Builder(b.region, op.span))
                if inner is not None:
                    op.attrs[Attr.FLATTENED] = True
                    if self.record is not None:
                        self.record(
                            Merged(function.name, inner.span, op.span, "coalesced", by_test=True, flattened=True)
                        )
            elif op.opcode == "loop" and op.attrs.pop(Attr.FLATTEN_BY_END, False):
                op.attrs[Attr.LOOP_COALESCE] = 2
                self._coalesce(function.name, op, b.region, flattened=True)

        rewrite(result.body, visit)
        return result

    def _coalesce(self, kernel: str, outer: Op, region: Region, flattened: bool = False) -> None:
        """Coalesce the nest of ``outer``, which will be placed at the end of ``region``; ``flattened``, as planning
        chose it."""
        wish = outer.attrs.pop(Attr.LOOP_COALESCE)
        nest, obstacle = _nest(outer, wish)
        if obstacle is not None and not (obstacle.natural and wish == -1 and len(nest) > 1):
            self._tell(outer, _shortfall(len(nest), wish, obstacle), obstacle.hint)
        join_nest(kernel, nest, region, self.timing, self._join_attributes, self.record, flattened)

    def _join_attributes(self, loop: Op, inner: Op) -> None:
        for name in take_over(loop, inner):
            self._tell(
                inner,
                f"#pragma {name} of this loop is ignored: it is coalesced with the loop{at_line(loop.span)}, which has "
                "another value",
                "keep one of them",
            )
        if Attr.IVDEP in loop.attrs:
            loop.attrs[Attr.IVDEP] = common_promises(loop, inner)
            if anew := declared_anew(loop, inner):
                loop.attrs[Attr.ANEW] = anew

    def _tell(self, loop: Op, message: str, hint: str) -> None:
        if self.warn is not None:
            self.warn(Diagnostic(message, loop.span, hint, "warning", code=Code.LOOP_PRAGMA_NOT_FOLLOWED))


def join_nest(
    kernel: str,
    nest: list[Op],
    region: Region,
    timing: TimingModel | None,
    join_attributes: Callable[[Op, Op], None],
    record: Callable[[Merged], None] | None,
    flattened: bool = False,
) -> None:
    """Coalesce the loops of a nest, from outside in; ``region`` contains the outermost, or the loop will be placed at
    its end. ``join_attributes`` gives a loop the attributes of the loop that becomes part of it; the record says that
    they are ``flattened``."""
    outer, nest = nest[0], list(nest)
    if len(nest) > 1 and timing is not None:
        for around, loop in zip((region, *(op.regions[0] for op in nest)), nest):
            _insert(around, loop, carry_ahead(loop, timing))
    while len(nest) > 1:
        inner, into = nest.pop(), nest[-1]
        join_attributes(into, inner)
        first = Region()
        merge_nest(into, inner, Builder(first, into.span))
        _insert(nest[-2].regions[0] if len(nest) > 1 else region, into, first.ops)
        if record is not None:
            record(Merged(kernel, inner.span, outer.span, "coalesced", flattened=flattened))


def _insert(region: Region, loop: Op, ops: list[Op]) -> None:
    """Insert operations before the loop, or at the end of the region if the loop is not in it yet."""
    at = region.ops.index(loop) if loop in region.ops else len(region.ops)
    region.ops[at:at] = ops


@dataclass(frozen=True)
class _Obstacle:
    """Why a nest ends. ``natural``: there is no loop inside that could belong to it."""

    reason: str
    hint: str
    natural: bool = False


def _nest(outer: Op, wish: int) -> tuple[list[Op], _Obstacle | None]:
    """The loops to coalesce, from outside in, and the obstacle if the nest is less deep than requested."""
    nest = [outer]
    while len(nest) != wish:
        found = _inside(nest[-1])
        if isinstance(found, _Obstacle):
            return nest, found
        nest.append(found)
    return nest, None


def _inside(loop: Op) -> "Op | _Obstacle":
    (body,) = loop.regions
    loops = [op for op in _loops(body) if op.attrs.get(Attr.UNROLL, 0) in (0, 1)]
    if not loops:
        return _Obstacle(
            f"there is no loop inside the one{at_line(loop.span)}",
            "remove the pragma, or write the number of levels of the nest",
            True,
        )
    if len(loops) > 1:
        lines = " and ".join(str(op.span.line) for op in loops[:2] if op.span)
        return _Obstacle(
            f"the loops{lines and f' at lines {lines}'} are not nested in each other",
            "make them one loop, or coalesce only the outer levels: #pragma loop_coalesce N",
        )
    if loops[0] not in body.ops:
        return _Obstacle(f"the loop{at_line(loops[0].span)} is conditional", "move the condition into that of the loop")
    return loops[0]


def _loops(region: Region) -> list[Op]:
    """The outermost loops of a region, those under conditions included."""
    found = []
    for op in region.ops:
        found += [op] if op.opcode == "loop" else [loop for inner in op.regions for loop in _loops(inner)]
    return found


def _shortfall(levels: int, wish: int, obstacle: _Obstacle) -> str:
    asked = "loop_coalesce" if wish == -1 else f"loop_coalesce {wish}"
    done = "this loop is not coalesced" if levels == 1 else f"only {levels} levels are coalesced"
    return f"#pragma {asked}: {done}, because {obstacle.reason}"
