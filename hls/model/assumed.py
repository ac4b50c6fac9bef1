"""A workload that no run has collected: trip counts by the source, by the user, or by a symbol, all else assumed.

Loops are those of the source. A loop runs the same number of iterations in each of its invocations, every condition
holds, and accesses go where the strides of the schedule's addresses lead (:mod:`hls.model.assumed_accesses`).
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..diag import Span, at_line
from ..ir import Attr, Function, Op, Region
from ..ir.loop_names import RESTART
from ..target.board import Board, DramTiming
from .assumed_accesses import AssumedAccesses
from .estimate import Planned
from .prediction import WORK_ITEMS, Symbol
from .runs import RunCounts
from .workload import SCHEMA, Histogram, LoopRuns, Place, Range, Workload

__all__ = ["AssumedWorkload", "TripError", "names_of"]

#: work-items of a group where the source does not say how many there are
USUAL_GROUP = 64


class TripError(Exception):
    """A trip count that contradicts the source; ``hint`` says what to do."""

    def __init__(self, what: str, hint: str = "leave its trip count out") -> None:
        super().__init__(what)
        self.hint = hint


@dataclass(frozen=True)
class _Loop:
    """A loop of the source inside those numbered ``around``. ``trips`` is None where only a symbol stands for it;
    ``counts`` says whether any loop of the schedule depends on it."""

    place: Place
    span: Span | None
    label: str
    around: tuple[int, ...]
    trips: int | None = None
    counts: bool = False


def names_of(function: Function, main: str) -> set[str]:
    """All names by which trip counts of a kernel's loops may be given; ``function`` is the inlined source."""
    loops = [(_place(op.span, main), str(op.attrs.get(Attr.LABEL, ""))) for op, _ in _nest(function.body, ())]
    items = {WORK_ITEMS} if function.attrs.get(Attr.NDRANGE) else set()
    return items | {name for place, label in loops for name in _names(place, label)}


class AssumedWorkload:
    """The workloads of one kernel by the sizes of its ``symbols``. ``assumed`` says what else is not known.

    ``source`` is the kernel with its calls inlined, before any optimization, ``given`` the trip counts by name: a
    loop's label, its line, as in ``8`` or ``L8``, or file and line, as in ``part.h:8``. Raises TripError.
    """

    def __init__(self, planned: Planned, source: Function, given: Mapping[str, int], board: Board) -> None:
        self.planned, self.board = planned, board
        self.group = math.prod(source.attrs.get(Attr.WORK_GROUP_SIZE) or (USUAL_GROUP,))
        self._ndrange = bool(source.attrs.get(Attr.NDRANGE))
        self._items = given.get(WORK_ITEMS) if self._ndrange else 1
        _check_groups(self._items, source)
        loops = list(_source_loops(source, planned.main))
        self._loops = _needed(_with_trips(loops, planned, given), planned)
        self._symbols = self._named()
        self.symbols = tuple(self._symbols.values())
        self._accesses = AssumedAccesses(planned)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is assumed beside the trip counts."""
        found = ["every condition holds, and each access is made in every iteration of its loop"]
        if self._ndrange and not self.planned.function.attrs.get(Attr.WORK_GROUP_SIZE):
            found.append(f"{self.group} work-items in a group")
        return (*found, *self._accesses.assumed)

    def _named(self) -> dict[int | None, Symbol]:
        """The symbols by the number of their loop, None for the work-items: ``n``, or one with its line each."""
        open_loops = {k: loop for k, loop in enumerate(self._loops) if loop.trips is None and loop.counts}
        found: dict[int | None, Symbol] = {
            k: Symbol(f"n{loop.place.line}", loop.place.file, loop.place.line, loop.label)
            for k, loop in open_loops.items()
        }
        if self._items is None:
            file, line = _file_and_line(self.planned.function.span, self.planned.main)
            found[None] = Symbol(WORK_ITEMS, file, line, WORK_ITEMS)
        if len(found) == 1:
            return {key: replace(one, name="n") for key, one in found.items()}
        seen: dict[str, int] = {}
        for key, one in found.items():
            name = "items" if key is None else one.name
            seen[name] = seen.get(name, 0) + 1
            found[key] = replace(one, name=name if seen[name] == 1 else f"{name}_{seen[name]}")
        return found

    def workload(self, sizes: Mapping[str, int]) -> Workload:
        """The workload with those values of the symbols by name."""
        items = self._size(self._items, None, sizes)
        group = min(self.group, items) if self._ndrange else 1
        loops = Workload(
            SCHEMA,
            self.planned.function.name,
            self.board.name,
            self.board.memory.word_bytes,
            _row_bytes(self.board),
            source_hash="",
            inputs_hash="",
            global_size=(items,),
            local_size=(group,),
            arguments=(),
            loops=tuple(self._runs(items, sizes)),
            branches=(),
            accesses=(),
            channels=(),
        )
        planned = self.planned
        counts = RunCounts(planned.function, planned.plan, planned.unrolled, planned.merged, loops, planned.main)
        return replace(loops, accesses=self._accesses.runs(counts, loops.row_bytes))

    def _runs(self, items: int, sizes: Mapping[str, int]) -> Iterator[LoopRuns]:
        trips = [self._size(loop.trips, k, sizes) for k, loop in enumerate(self._loops)]
        for k, loop in enumerate(self._loops):
            invocations = items * math.prod(trips[number] for number in loop.around)
            around = self._loops[loop.around[-1]].place if loop.around else None
            histogram = Histogram((Range(trips[k], trips[k], invocations),))
            yield LoopRuns(loop.place, around, invocations * trips[k], histogram)

    def _size(self, known: int | None, key: int | None, sizes: Mapping[str, int]) -> int:
        if known is not None:
            return known
        symbol = self._symbols.get(key)
        return sizes[symbol.name] if symbol else 1


def _source_loops(source: Function, main: str) -> Iterator[_Loop]:
    seen: dict[tuple[str, int, int], int] = {}
    for op, around in _nest(source.body, ()):
        place = _place(op.span, main)
        key = place.file, place.line, place.column
        seen[key] = seen.get(key, -1) + 1
        yield _Loop(replace(place, copy=seen[key]), op.span, str(op.attrs.get(Attr.LABEL, "")), around)


def _nest(body: Region, around: tuple[int, ...]) -> list[tuple[Op, tuple[int, ...]]]:
    """The loops of a region in program order, each with the numbers of those around it."""
    found: list[tuple[Op, tuple[int, ...]]] = []

    def visit(region: Region, around: tuple[int, ...]) -> None:
        for op in region.ops:
            inside = around
            if op.opcode == "loop" and op.attrs.get(Attr.FORM) != RESTART:
                inside = (*around, len(found))
                found.append((op, around))
            for inner in op.regions:
                visit(inner, inside)

    visit(body, around)
    return found


def _check_groups(items: int | None, source: Function) -> None:
    """Raises TripError where so many work-items cannot be launched: none, or no whole number of the groups that are
    required."""
    required = source.attrs.get(Attr.WORK_GROUP_SIZE)
    if items == 0:
        raise TripError(
            f"kernel {source.name} cannot be launched with 0 work-items{at_line(source.span)}",
            "give at least 1, or leave work-items out",
        )
    if required and items is not None and items % math.prod(required):
        raise TripError(
            f"kernel {source.name} cannot be launched with {items:,} work-items: its work-groups have "
            f"{math.prod(required):,} each{at_line(source.span)}",
            f"give a multiple of {math.prod(required):,}",
        )


def _with_trips(loops: list[_Loop], planned: Planned, given: Mapping[str, int]) -> list[_Loop]:
    """The loops with the trip counts that are given, or that the compiler found. Raises TripError."""
    found = []
    known = _known(planned)
    for loop in loops:
        asked = [given[name] for name in _names(loop.place, loop.label) if name in given]
        trips = known.get(loop.span)
        if asked and trips is not None and asked[0] != trips:
            raise TripError(f"the loop{at_line(loop.span)} has {trips:,} iterations by the source, not {asked[0]:,}")
        found.append(replace(loop, trips=asked[0] if asked else trips))
    return _split_products(found, planned)


def _known(planned: Planned) -> dict[Span | None, int]:
    """Trip counts that the source tells, by the place of the loop; coalesced loops have a product, and are left out."""
    factors = {one.span: one.copies for one in planned.unrolled if not one.full}
    merged = {one.into for one in planned.merged if one.how == "coalesced"}
    found: dict[Span | None, int] = {}
    for one in planned.unrolled:
        if one.full:
            found[one.span] = max(one.copies, found.get(one.span, 0))
    for op in planned.plan.loops:
        trips = op.attrs.get(Attr.TRIP_COUNT)
        if trips is not None and op.span not in merged and op.span not in factors:
            found[op.span] = max(trips, found.get(op.span, 0))
    return found


def _split_products(loops: list[_Loop], planned: Planned) -> list[_Loop]:
    """Give the loops of a coalesced nest whose product is known what is left of it for the outermost unknown one."""
    into = {one.span: one.into for one in planned.merged if one.how == "coalesced"}
    products = {
        op.span: op.attrs[Attr.TRIP_COUNT]
        for op in planned.plan.loops
        if Attr.TRIP_COUNT in op.attrs and op.span in into.values()
    }
    found = list(loops)
    for span, product in products.items():
        nest = [k for k, loop in enumerate(found) if _outermost(loop.span, into) == span]
        left = product // max(1, math.prod(found[k].trips or 1 for k in nest))
        for k in nest:
            if found[k].trips is None:
                found[k], left = replace(found[k], trips=max(left, 1)), 1
    return found


def _outermost(span: Span | None, into: Mapping[Span | None, Span | None]) -> Span | None:
    while span in into:
        span = into[span]
    return span


def _needed(loops: list[_Loop], planned: Planned) -> list[_Loop]:
    """Mark the loops on which loops of the schedule depend: these, what was coalesced with them, and all around."""
    spans = {op.span for op in planned.plan.loops} | {one.span for one in planned.merged if one.how == "coalesced"}
    marked = {k for k, loop in enumerate(loops) if loop.span in spans}
    marked |= {number for k in marked for number in loops[k].around}
    return [replace(loop, counts=k in marked) for k, loop in enumerate(loops)]


def _names(place: Place, label: str) -> Iterable[str]:
    names = [label] if label else []
    if place.file:
        return [*names, f"{re.split(r'[/]', place.file)[-1]}:{place.line}", f"{place.file}:{place.line}"]
    return [*names, f"L{place.line}", str(place.line)]


def _place(span: Span | None, main: str) -> Place:
    file, line = _file_and_line(span, main)
    return Place(file, line, span.column if span else 0)


def _file_and_line(span: Span | None, main: str) -> tuple[str, int]:
    return ("" if span.file == main else span.file, span.line) if span else ("", 0)


def _row_bytes(board: Board) -> int:
    timing = board.memory.timing
    return timing.row_bytes if isinstance(timing, DramTiming) else board.memory.word_bytes
