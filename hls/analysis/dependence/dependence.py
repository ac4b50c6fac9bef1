"""Dependence analysis: which accesses of a kernel must stay in order. Exact for affine offsets, conservative otherwise.

Two accesses depend on each other if one stores and both may access the same byte, in the same iteration of the loops
around both, or at some distance in one of them with all outer loops at the same iteration. Accesses with mutually
exclusive predicates do not conflict in the same iteration. Work-items of an NDRange are unordered. Two different
buffers share bytes only if the host passes overlapping ones; an access through a `restrict` pointer never aliases one
through another argument.
"""

import functools
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby, product
from math import prod

import islpy as isl

from ...ir import (
    Attr,
    Function,
    MemoryObject,
    Op,
    Value,
    lane_mask,
    may_share,
    memory_name,
    predicate,
    reaches_memory,
    walk,
)
from ...ir.rewrite import constant
from ...narrow import present
from ..affine.affine import AffineForms
from ..affine.delinearize import InRow, rows_of
from ..affine.iteration_domain import Domains
from ..induction.monotonic import MonotonicAccess
from ..loops.loop_tree import Loop
from ..memory.commutativity import Commutativity
from ..predicates.implication import Exclusions
from .enumerate import AddressTraces
from .polyhedral import Count, DistanceQuery, Lanes, Outline, least_of, size_of
from .witness import conflicts_at_once

__all__ = ["Dependence", "DependenceTester", "Kind", "dependences", "promised", "unused_number", "writers_of"]

#: steps after which isl gives up on a query, a tenth of a second; the answer is then conservative. A query rarely takes
#: a thousand; of all examples and benchmarks, one that is answered takes more than 25,000. Those that are not take
#: three times as long for twice as many steps, as their numbers grow
MOST_STEPS = 50_000
#: most answers that are kept
MOST_ANSWERS = 20_000
#: most loops around an access: the solver has to eliminate as many unknowns; in a deeper nest any two iterations are
#: assumed to conflict
DEEPEST = 16
#: a source that may be more iterations ahead of its destination is waited for like any other
FARTHEST = 64


class Kind(Enum):
    """Read after write, write after read, write after write: what the later access does, after what the earlier one
    did."""

    RAW = "read after write"
    WAR = "write after read"
    WAW = "write after write"


@dataclass(frozen=True)
class Dependence:
    """``dst`` must come after ``src``.

    ``loop`` is None for accesses in one iteration of all loops around both. Otherwise ``dst`` executes in an iteration
    of ``loop`` at least ``distance`` after that of ``src``. ``known``: the offsets are sums of iteration counters and
    values that are equal for both, so that the distance is exact. ``overlap``: between different buffers, relevant only
    if these overlap.
    """

    src: Op
    dst: Op
    kind: Kind
    loop: Op | None = None
    distance: int = 0
    known: bool = True
    overlap: bool = False


def dependences(
    function: Function,
    address_bits: int = 64,
    only: Container[str] | None = None,
    tester: "DependenceTester | None" = None,
) -> tuple[Dependence, ...]:
    """All dependences among the accesses of a flat kernel, in program order of the sources.

    ``address_bits``: offsets are computed modulo 2**address_bits, and do not wrap. ``only``: restricts the result to
    these memories (None: all). ``tester``: the one to ask, if the caller has further questions.
    """
    accesses = [op for op in walk(function.body) if reaches_memory(op) and (only is None or memory_name(op) in only)]
    tester = tester or DependenceTester(function, address_bits)
    found: list[Dependence] = []
    # two loads never depend on each other, and most pairs in an unrolled loop are loads; memories other than global
    # ones share no bytes
    together: defaultdict[str | None, _Sharing] = defaultdict(_Sharing)
    sharing = [together[None if _memory(function, op).space == "global" else memory_name(op)] for op in accesses]
    for k, op in enumerate(accesses):
        sharing[k].add(k, op)
    for k, first in enumerate(accesses):
        for j in sharing[k].behind(k, first):
            found += tester.pair(first, accesses[j])
    return tuple(kept for fact in found if (kept := promised(fact)) is not None)


class _Sharing:
    """The positions, among all accesses, of those that may share bytes."""

    def __init__(self) -> None:
        self.all: list[int] = []
        self.writes: list[int] = []

    def add(self, place: int, access: Op) -> None:
        self.all.append(place)
        if access.opcode != "load":
            self.writes.append(place)

    def behind(self, place: int, access: Op) -> list[int]:
        """The positions, from the access on, of those that it may depend on, or that may depend on it."""
        those = self.writes if access.opcode == "load" else self.all
        return those[bisect_left(those, place) :]


def promised(fact: Dependence) -> Dependence | None:
    """The dependence under the ``ivdep`` of its loop: None, or with a distance of at least ``safelen`` iterations."""
    names = {access.operands[0].defining_op.attrs[Attr.MEM] for access in (fact.src, fact.dst)}
    if fact.loop is None or not names.isdisjoint(fact.loop.attrs.get(Attr.ANEW, ())):
        return fact
    for memory, safelen in fact.loop.attrs.get(Attr.IVDEP, ()):
        if memory in ("", *names):
            if not safelen:
                return None
            fact = replace(fact, distance=max(fact.distance, safelen))
    return fact


def _near(least: int | None, back: int) -> int | None:
    """How far ahead a source may be that is at least ``least`` iterations before, ``back`` of which are the length of
    an invocation."""
    ahead = None if least is None else max(0, back - least)
    return None if ahead is None or ahead > FARTHEST else ahead


def _memory(function: Function, access: Op) -> MemoryObject:
    return function.memories[memory_name(access)]


def _kind(src: Op, dst: Op) -> Kind:
    if src.opcode == "load":
        return Kind.WAR
    return Kind.RAW if dst.opcode == "load" else Kind.WAW


def writers_of(store: Op) -> set[int]:
    """The numbers of a store, or of those that it replaces; empty if it has none."""
    return set(store.attrs.get(Attr.WRITER, ()))


def unused_number(function: Function) -> int:
    """A number greater than those of all stores."""
    return 1 + max((number for op in walk(function.body) for number in writers_of(op)), default=-1)


def _told_apart(store: Op, other: Op) -> bool:
    """Whether the other access is marked as needing no order with the store."""
    numbers = writers_of(store)
    return bool(numbers) and numbers <= set(other.attrs.get(Attr.APART, ()))


class DependenceTester:
    """Tests pairs of accesses of a flat kernel for dependence."""

    def __init__(self, function: Function, address_bits: int) -> None:
        self.function = function
        self.forms = AffineForms(function, address_bits)
        self.tree = self.forms.tree
        self.domains = Domains(self.forms)
        self.growth = MonotonicAccess(self.forms)
        self.traces = AddressTraces(self.forms)
        self.free_order = Commutativity(function)
        self.lanes: dict[Op, tuple[Lanes, ...]] = {}
        self.shapes: dict[Op, tuple[int, int]] = {}
        self.numbers: dict[tuple, int] = {}  #: by shape
        self.meetings: dict[tuple, tuple[int | None, bool]] = {}
        self.never: set[tuple] = set()  #: independent pairs, by their shapes and the difference of their offsets
        self.outlines: dict[tuple, int] = {}
        self.outline_numbers: dict[tuple, int] = {}
        self.outlined: dict[tuple, tuple[int | None, bool]] = {}
        self.exclusive: dict[tuple[Value, Value], bool] = {}
        self.exclusions = Exclusions()
        self.witness: dict[object, int] = {}  #: numbers at the conflicts that were found last by trial

    def pair(self, first: Op, second: Op, carried: bool = True) -> list[Dependence]:
        """Dependences between two accesses (or of a store on itself), ``first`` not later in program order; without
        those across iterations if ``carried`` is false."""
        one, other = _memory(self.function, first), _memory(self.function, second)
        if first.opcode == second.opcode == "load" or self.free_order.between(first, second):
            return []
        if one is other:
            return self._same_buffer(first, second, carried)
        if not may_share(one, other):
            return []
        return self._different_buffers(first, second, carried)

    def within(self, first: Op, second: Op) -> bool:
        """Whether ``second``, later in program order, must follow ``first`` in one iteration of the loops around
        both."""
        return any(fact.loop is None for fact in self.pair(first, second, carried=False))

    def ahead(self, fact: Dependence) -> int | None:
        """For a dependence carried by a loop around inner loops that are around both accesses: by how many iterations,
        at most, the number of the source's iteration in its invocation of the innermost of these loops exceeds that of
        the destination's iteration in a later invocation, at least 0. None if there is no such bound up to
        ``FARTHEST``.

        Lexicographic distance in a perfect nest (Wolfe 1989): where all the inner loops have constant trip counts, a
        source k invocations back counts k - 1 invocations' iterations less."""
        common = self._common(fact.src, fact.dst)
        same = next((k for k, loop in enumerate(common) if loop.op is fact.loop), len(common))
        inner = common[same + 1 :]
        if not inner or fact.overlap or memory_name(fact.src) != memory_name(fact.dst) or len(common) > DEEPEST:
            return None
        question = DistanceQuery(self, fact.src, fact.dst, common[same], same, self._rows(fact.src, fact.dst))
        trips: list[int] = [loop.op.attrs[Attr.TRIP_COUNT] for loop in inner if Attr.TRIP_COUNT in loop.op.attrs]
        if len(trips) < len(inner) or any(constant(loop.op.operands[0]) != 1 for loop in inner):
            least = _least_number(question.apart_by({inner[-1]: 1}))
            return _near(least, 0)
        weights = {loop: prod(trips[k:]) for k, loop in enumerate(common[same:-1])} | {inner[-1]: 1}
        least = _least_number(question.apart_by(weights))
        return _near(least, trips[-1])

    def meets(self, src: Op, dst: Op, loop: Loop, earlier: Iterable[tuple[Count, Count]] = ()) -> bool:
        """Whether two accesses of one memory, both inside ``loop``, may touch one byte in an iteration of it for
        ``src``, and a later one for ``dst``. Of each pair of ``earlier``, the iteration counter of a loop for one of
        the two (:data:`Count`), the first counter must be less than the second."""
        return self._meets(src, dst, loop, self.tree.around(src).index(loop), tuple(earlier))

    def meets_within(self, src: Op, dst: Op, loop: Loop) -> bool:
        """Whether two accesses of one memory, both inside ``loop``, may touch one byte in one iteration of it, and any
        two of the loops inside."""
        return self._meets(src, dst, None, self.tree.around(src).index(loop) + 1, ())

    def _meets(self, src: Op, dst: Op, loop: Loop | None, same: int, earlier: tuple[tuple[Count, Count], ...]) -> bool:
        if max(len(self.tree.around(op)) for op in (src, dst)) > DEEPEST:
            return True
        if self._ask(DistanceQuery(self, src, dst, loop, same).text_where(earlier)) is None:
            return False
        inside = self._rows(src, dst)
        return (
            not inside or self._ask(DistanceQuery(self, src, dst, loop, same, inside).text_where(earlier)) is not None
        )

    def _common(self, first: Op, second: Op) -> list[Loop]:
        return [a for a, b in zip(self.tree.around(first), self.tree.around(second)) if a is b]

    def _orders(self, first: Op, second: Op, carried: bool):
        """(src, dst, loop or None, number of loops at the same iteration) for every order to test."""
        common = self._common(first, second)
        # private memory is reused by all work-items, one after the other
        one_for_all = _memory(self.function, first).space == "private"
        if first is not second and not self._never_both(first, second, len(common)):
            yield first, second, None, len(common)
        for level, loop in enumerate(common if carried else []):
            if one_for_all or not loop.parallel:
                yield first, second, loop, level
                if first is not second:
                    yield second, first, loop, level

    def _never_both(self, first: Op, second: Op, common: int) -> bool:
        """Whether at most one of the accesses executes in an iteration of the ``common`` loops around both, as in two
        branches of an `if`, or in loops there."""
        for key in product(self._conditions(first, common), self._conditions(second, common)):
            if key not in self.exclusive:
                self.exclusive[key] = self.exclusions.never_both(*key)
            if self.exclusive[key]:
                return True
        return False

    def _conditions(self, access: Op, common: int) -> list[Value]:
        """What must hold for the access in an iteration of the ``common`` outermost loops around it: its predicate, and
        those of loops further in."""
        return [predicate(access), *(loop.op.operands[0] for loop in self.tree.around(access)[common:])]

    def _different_buffers(self, first: Op, second: Op, carried: bool) -> list[Dependence]:
        return [
            Dependence(src, dst, _kind(src, dst), loop and loop.op, int(loop is not None), False, True)
            for src, dst, loop, _ in self._orders(first, second, carried)
        ]

    def _same_buffer(self, first: Op, second: Op, carried: bool) -> list[Dependence]:
        if self.domains.is_empty(first) or self.domains.is_empty(second):
            return []
        (one, here), (other, there) = self._shape(first), self._shape(second)
        # most pairs in an unrolled loop are alike, and most of those are independent
        alike = one, other, there - here, first is second, carried, _memory(self.function, first).space
        if alike in self.never:
            return []
        found, never = [], True
        for src, dst, loop, same in self._orders(first, second, carried):
            if loop is None and (_told_apart(src, dst) or _told_apart(dst, src)):
                never = False
                continue
            never &= self._plain_meeting(src, dst, loop, same)[0] is None
            distance, known = self._meeting(src, dst, loop, same)
            if distance is not None and (loop is None or not known):
                distance = self.traces.least(src, dst, loop, same, distance)
            if distance is not None and not self.growth.apart(src, dst, loop):
                found.append(Dependence(src, dst, _kind(src, dst), loop and loop.op, distance, known))
        if never:
            self.never.add(alike)
        return [later for fact in found if (later := self._turned(fact)) is not None]

    def _turned(self, fact: Dependence) -> Dependence | None:
        """The dependence in a delay line: an element is read, and overwritten, only a whole rotation after it was
        stored. Known if one loop contains all accesses."""
        turn, region = self._turn(fact.src), self.tree.region_of(fact.src)
        around = self.tree.around(fact.src)
        if turn is None or fact.kind is Kind.WAR or region is not self.tree.region_of(fact.dst) or not around:
            return fact
        stores = [op for op in walk(region) if op.opcode == "store" and memory_name(op) == memory_name(fact.src)]
        alone = all(self.tree.region_of(op) is region for op in stores) and len(stores) <= turn
        if not alone or fact.loop not in (None, around[-1].op):
            return fact
        return replace(fact, distance=max(fact.distance, turn // len(stores)), known=True) if fact.loop else None

    def _turn(self, access: Op) -> int | None:
        return dict(_memory(self.function, access).attrs).get(Attr.DELAY_LINE)

    def _meeting(self, src: Op, dst: Op, loop: Loop | None, same: int) -> tuple[int | None, bool]:
        """(least distance at which the two conflict, whether it is exact)."""
        plain = self._plain_meeting(src, dst, loop, same)
        if plain[0] is None:
            return plain
        (one, here), (other, there) = self._shape(src), self._shape(dst)
        # whether an access stays within its row does not depend on the difference alone
        key = one, other, here, there, loop, same
        if key not in self.meetings:
            inside = self._rows(src, dst)
            self.meetings[key] = self._answer(DistanceQuery(self, src, dst, loop, same, inside)) if inside else plain
        return self.meetings[key]

    def _plain_meeting(self, src: Op, dst: Op, loop: Loop | None, same: int) -> tuple[int | None, bool]:
        """The same without delinearization. Queried once for all pairs of equal shapes, as most pairs in an unrolled
        loop are, and for pairs that differ only in equivalent loops around them."""
        (one, here), (other, there) = self._shape(src), self._shape(dst)
        key = one, other, there - here, loop, same
        if key not in self.meetings:
            outline = self._outline(src, one, loop, same), self._outline(dst, other, loop, same), there - here
            if outline not in self.outlined:
                self.outlined[outline] = self._answer(DistanceQuery(self, src, dst, loop, same))
            self.meetings[key] = self.outlined[outline]
        return self.meetings[key]

    def _outline(self, access: Op, shape: int, loop: Loop | None, same: int) -> int:
        """A number shared by all accesses of equivalent shapes, for which queries are equal up to names of their own
        unknowns."""
        key = shape, loop, same
        if key not in self.outlines:
            outline = Outline(self, access, loop, same).whole
            self.outlines[key] = self.outline_numbers.setdefault(outline, len(self.outline_numbers))
        return self.outlines[key]

    def _answer(self, question: "DistanceQuery") -> tuple[int | None, bool]:
        known = question.known
        if question.apart:
            return None, known
        if max(len(self.tree.around(op)) for op in (question.src, question.dst)) > DEEPEST:
            return int(question.loop is not None), False
        if conflicts_at_once(question):
            return int(question.loop is not None), known
        return self._ask(question.text), known

    def _rows(self, src: Op, dst: Op) -> tuple[InRow, InRow] | None:
        """Both offsets delinearized with one row length, if both accesses always stay within their rows."""
        places = rows_of(self.forms, self.forms.offset(src), self.forms.offset(dst))
        if places is None:
            return None
        inside = [self._in_row(access, place) for access, place in zip((src, dst), places, strict=True)]
        return None if None in inside else (present(inside[0]), present(inside[1]))

    def _in_row(self, access: Op, place: InRow) -> InRow | None:
        """The decomposition in which the access always stays within its row, if there is one."""
        for each in (place, place.from_the_end()):
            alone = DistanceQuery(self, access, access, None, len(self.tree.around(access)))
            if self._ask(alone.outside(each)) is None:
                return each
        return None

    def _shape(self, access: Op) -> tuple[int, int]:
        """The inputs of a query as a number shared by all accesses with equal ones: the unknowns of the offset, the
        size, the enclosing loops and the predicate. And the constant part of the offset."""
        if access not in self.shapes:
            form = self.forms.offset(access)
            shape = (
                frozenset(form.terms.items()),
                size_of(access),
                tuple(self.tree.around(access)),
                predicate(access),
                lane_mask(access),
            )
            self.shapes[access] = self.numbers.setdefault(shape, len(self.numbers)), form.const
        return self.shapes[access]

    def lanes_of(self, access: Op) -> tuple["Lanes", ...]:
        """The bytes that a masked access touches, and under which conditions; empty for accesses without a mask."""
        if access not in self.lanes:
            mask = lane_mask(access)
            known = mask is not None and mask.op is not None and mask.op.opcode == "array"
            self.lanes[access] = tuple(self._runs(size_of(access), present(mask).defining_op.operands)) if known else ()
        return self.lanes[access]

    def _runs(self, size: int, conditions: list[Value]):
        """Merge adjacent lanes with equal conditions."""
        lane = size // len(conditions)
        facts = [tuple(self.domains.facts(condition)) for condition in conditions]
        for alike, lanes in groupby(range(len(facts)), key=facts.__getitem__):
            run = list(lanes)
            yield Lanes(run[0] * lane, (run[-1] + 1) * lane, alike)

    def _ask(self, text: str) -> int | None:
        """The least d of the set, None if it is empty."""
        return _answered(text)


@functools.lru_cache(maxsize=MOST_ANSWERS)
def _answered(text: str) -> int | None:
    """The least d of a set in isl's notation, None if it is empty. A text holds all that its answer depends on, so
    passes that test the same accesses share it."""
    least = int("d >= 1" in text)  # lower bound of d in any query
    try:
        return least_of(isl.Set.read_from_str(_limited_context(), text), least)
    except isl.Error:  # gave up: conservative
        return least


@functools.lru_cache(maxsize=MOST_ANSWERS)
def _least_number(text: str) -> int | None:
    """The least number of a set in isl's notation; None if there is none, the set is empty, or isl gives up."""
    try:
        least = isl.Set.read_from_str(_limited_context(), text).dim_min_val(0)
        return least.to_python() if least.is_int() else None
    except isl.Error:
        return None


def _limited_context() -> isl.Context:
    """A context whose questions are given up after ``MOST_STEPS`` operations, with :class:`isl.Error`."""
    context = isl.Context()
    context.set_max_operations(MOST_STEPS)
    return context
