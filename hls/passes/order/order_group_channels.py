"""Channel ordering in kernels with barriers: between two barriers in work-item order, then after the next barrier."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...analysis.channels.endpoints import Endpoint
from ...analysis.loops.loop_tree import LoopTree
from ...diag import Code, CompileError, Diagnostic
from ...ir import Attr, Function, Op, Region, walk
from ...ir.rewrite import constant
from ...narrow import present
from .token_builder import done_token

__all__ = ["OrderGroupChannels", "has_meetings"]


@dataclass(frozen=True)
class OrderGroupChannels:
    """Orders the calls on one end of a channel in a kernel with barriers.

    Program order is that of the work-items up to a barrier, then of the same work-items up to the next one, then of the
    next group. Barriers keep the phases of one group apart; a ``group`` admits the next group to its first phase when
    the previous one has left its last phase. Barrier loops that contain calls execute one group at a time.
    """

    function: Function
    tree: LoopTree

    def all_phases(self, ends: Mapping[Endpoint, list[Op]]) -> dict[Endpoint, list[list[Op]]]:
        """The calls on each channel end in sets that no barrier separates; the calls are marked. Raises CompileError if
        no order of the hardware is that of the program."""
        found: dict[Endpoint, list[list[Op]]] = {}
        errors: list[Diagnostic] = []
        for end, calls in ends.items():
            try:
                found[end] = self._phases(end, calls)
            except CompileError as error:
                errors += error.diagnostics
        if errors:
            raise CompileError(*errors)
        self._drop_unused_gate()
        return found

    def _phases(self, end: Endpoint, calls: list[Op]) -> list[list[Op]]:
        homes = dict.fromkeys(self._home(call) for call in calls)
        if len(homes) > 1:
            first, second = (next(call for call in calls if self._home(call) is home) for home in list(homes)[:2])
            raise _fault(end, second, first, "inside and outside of a loop with barriers")
        (home,) = homes
        found, last = self._split(end, home, calls)
        ring = present(self.tree.holder(home.args[0])).op.attrs.get(Attr.RING)
        if ring and last == 0:
            raise _fault(end, calls[-1], calls[0], "in a loop that is not in every iteration halted by a barrier")
        if ring and 0 in found and last in found:
            raise _fault(end, found[last][0], found[0][0], "after the last barrier of a loop and before its first one")
        if ring or len(found) > 1:
            self._gate(calls)
        if len(found) > 1:
            self._mark(found)
        if ring:
            self._check_regions(end, found)
        return list(found.values())

    def _home(self, call: Op) -> Region:
        """The region whose tokens are work-items: the body of the innermost barrier loop, or of the work-item loop."""
        loops = [
            loop
            for loop in self.tree.around(call)
            if loop.op.attrs.get(Attr.RING) or loop.op.attrs.get(Attr.FORM) == "ndrange"
        ]
        return loops[-1].body

    def _split(self, end: Endpoint, home: Region, calls: list[Op]) -> tuple[dict[int, list[Op]], int]:
        """The calls by the number of barriers before them, and the number of all barriers. A conditional barrier, or a
        barrier loop that may not run, must not be between two calls that no other barrier separates."""
        found: dict[int, list[Op]] = {}
        meetings, uncertain, wanted = 0, False, set(calls)
        for op in home.ops:
            if op.opcode == "meet" and constant(op.operands[0]) == 1:
                meetings, uncertain = meetings + 1, False
            elif op.opcode == "meet" or op.attrs.get(Attr.RING):
                uncertain = True
            for call in (inner for inner in _inside(op) if inner in wanted):
                before = found.setdefault(meetings, [])
                if before and uncertain:
                    raise _fault(end, call, before[0], "before and after a conditional barrier")
                before.append(call)
            uncertain &= meetings in found
        return found, meetings

    def _gate(self, calls: list[Op]) -> None:
        for call in calls:
            call.attrs[Attr.GATED] = True
            done_token(call)  # later operations need its token

    def _mark(self, found: dict[int, list[Op]]) -> None:
        for number, calls in found.items():
            for call in calls:
                call.attrs[Attr.PHASE] = number
                done_token(call)

    def _check_regions(self, end: Endpoint, found: dict[int, list[Op]]) -> None:
        """Refuse calls in several regions of a barrier loop: no token leads from one work-item's calls to the next
        one's."""
        for calls in found.values():
            other = next(
                (call for call in calls if self.tree.region_of(call) is not self.tree.region_of(calls[0])), None
            )
            if other is not None:
                raise _fault(end, other, calls[0], "in several loops between two barriers of a loop")

    def _drop_unused_gate(self) -> None:
        """Remove the ``group`` that admits groups one at a time, if no call needs it."""
        if any(op.attrs.get(Attr.GATED) for op in walk(self.function.body)):
            return
        for region in {self.tree.region_of(op) for op in walk(self.function.body) if op.opcode == "group"}:
            region.ops = [op for op in region.ops if not (op.opcode == "group" and op.attrs.get(Attr.CALLS))]


def _inside(op: Op) -> Iterator[Op]:
    yield op
    for region in op.regions:
        yield from walk(region)


def _fault(end: Endpoint, call: Op, other: Op, where: str) -> CompileError:
    verb = "written" if end.writes else "read"
    notes = (Diagnostic("the other call", other.span, severity="note"),) if other is not call else ()
    return CompileError(
        Diagnostic(
            f"channel '{end.channel}' is {verb} {where}, so that calls of different work-items would change their "
            "order",
            call.span,
            "put a barrier between the two, or use a second channel for one of them",
            notes=notes,
            code=Code.CHANNEL_ORDER,
        )
    )


def has_meetings(function: Function) -> bool:
    """Whether a flat kernel contains barriers."""
    return any(op.opcode == "meet" for op in walk(function.body))
