"""Rewrites that only the programmer can make, and the cycles that the model expects with each: an access ideal, or the
work of several work-items done by one.

The steps are those of Wang et al. (HPCA 2016, section 6): memory on the chip (SM) and private memory (PM) hold what is
used again, another order of accesses (MC) uses whole words, and vectors (VT) do several work-items at once.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from ..analysis.affine.affine import AffineForms
from ..analysis.affine.form import Affine
from ..ir import Attr, Copying, Op, Value, walk
from ..ir.launch import units_of
from ..narrow import present
from ..target.board import Board
from .elements import element_of
from .estimate import Planned, Timed, regions, timed
from .exchange import may_be_exchanged, runs_alike
from .workload import AccessRuns, Place, Stride, Workload

__all__ = ["VECTOR", "Kind", "Rewrite", "rewrites"]

#: components of the vectors that are advised
VECTOR = 4


#: operations by which work-items share something
_SHARED = ("barrier", "meet", "atomic", "channel_read", "channel_write")


class Kind(Enum):
    """What is rewritten, with the name of the step."""

    LOCAL = "local memory"
    PRIVATE = "private memory"
    ORDER = "order of accesses"
    VECTORS = "vectors"
    PARTIALS = "partial results"


@dataclass(frozen=True)
class Rewrite:
    """A rewrite of ``kernel``: of all accesses to ``buffers`` (none for vectors), the first of which is at ``place``.

    A copy on the chip holds ``elements``: 0 for other kinds. Of an order of accesses, ``inner`` is the loop that skips
    through memory, and ``outer`` the one that goes from neighbour to neighbour. Of partial results, ``inner`` is the
    loop that updates the array by ``operator``; ``copies`` arrays, each with ``elements`` of the type ``element``, take
    its place in turn."""

    kind: Kind
    kernel: str
    buffers: tuple[str, ...] = ()
    place: Place | None = None
    elements: int = 0
    inner: Place | None = None
    outer: Place | None = None
    copies: int = 0
    element: str = ""
    operator: str = ""


def rewrites(planned: Planned, workload: Workload, board: Board) -> dict[Rewrite, float]:
    """The rewrites that could change a launch, with its cycles after each. Whether one gains is the caller's question:
    no cycle is lost in the copy's own memory, and the vectors' arithmetic is taken to fit."""
    return _Launch(planned, workload, board).rewrites()


class _Launch:
    """One launch, and what its buffers are used for."""

    def __init__(self, planned: Planned, workload: Workload, board: Board) -> None:
        self.planned, self.workload, self.board = planned, workload, board
        self.now: Timed = timed(planned, workload, board)
        self.ops: dict[str, list[Op]] = {}
        for op, access in planned.memory.outside.items():
            self.ops.setdefault(access.memory, []).append(op)
        found = {name: [one for op in ops for one in self.now.counts.accesses(op)] for name, ops in self.ops.items()}
        #: what the source does with each buffer that a rewrite may concern
        self.runs = {
            name: list(dict.fromkeys(runs))
            for name, runs in found.items()
            if runs
            and not planned.function.memories[name].volatile
            and not _is_moved(planned, self.ops[name])
            and not any(one.several or one.kind == "atomic" for one in runs)
            and not _met(planned, self.ops[name])
        }

    def rewrites(self) -> dict[Rewrite, float]:
        """All of them, with the cycles after each."""
        found = dict(one for name in self.runs for one in self._copies(name))
        found |= dict(self._orders())
        if _takes_vectors(self.planned, self.workload):
            scaled = dict.fromkeys(self.planned.plan.loops, 1 / VECTOR)
            cycles = timed(self.planned, self.workload, self.board, scaled=scaled).cycles
            found[Rewrite(Kind.VECTORS, self.workload.kernel)] = cycles
        return found

    def _copies(self, buffer: str) -> Iterator[tuple[Rewrite, float]]:
        """A copy of a whole buffer, if its elements are used more than once, and it fits."""
        runs, device = self.runs[buffer], self.board.device
        parameter = next((one for one in self.planned.function.params if one.name == buffer), None)
        element = element_of(parameter) if parameter is not None else None
        if element is None or any(one.bytes != element.bytes for one in runs):  # a structure, or read as another type
            return
        given = next((one.bytes for one in self.workload.arguments if one.name == buffer), 0)
        stored = any(one.kind == "store" for one in runs)
        used = sum(one.count * one.bytes for one in runs)
        alone = not self.planned.function.attrs.get(Attr.NDRANGE) and units_of(self.planned.function) == 1
        fits = 0 < given * 8 <= device.rams.count * device.rams.bits
        if not fits or used <= given or stored and not alone:
            return
        groups = 1 if alone else max(1, self.workload.work_items // math.prod(self.workload.local_size))
        words = -(-given // self.workload.word_bytes)
        copying = words * max(1.0, self.now.memory.word_cycles) + self.now.memory.latency
        near = timed(self.planned, self.workload, self.board, near=dict.fromkeys(self.ops[buffer], 0.0))
        kind = Kind.PRIVATE if stored else Kind.LOCAL
        rewrite = Rewrite(kind, self.workload.kernel, (buffer,), runs[0].place, given // element.bytes)
        yield rewrite, near.cycles + groups * copying * (2 if stored else 1)

    def _orders(self) -> Iterator[tuple[Rewrite, float]]:
        """Each pair of loops that may be exchanged, for all buffers that would then be used in the order of their
        addresses."""
        pairs: dict[tuple[Place, Place], list[str]] = {}
        for name, runs in self.runs.items():
            if (pair := _order(runs)) is not None:
                pairs.setdefault(pair, []).append(name)
        for (inner, outer), names in pairs.items():
            if not may_be_exchanged(self.planned.function, outer, inner, self.planned.main):
                continue
            if any(_skips_then(one, inner, outer) for name in self.runs.keys() - {*names} for one in self.runs[name]):
                continue
            words = {name: float(max(one.words for one in self.runs[name])) for name in names}
            near = {op: words[name] / len(self.ops[name]) for name in names for op in self.ops[name]}
            place = min(one.place for name in names for one in self.runs[name])
            rewrite = Rewrite(Kind.ORDER, self.workload.kernel, tuple(names), place, inner=inner, outer=outer)
            yield rewrite, timed(self.planned, self.workload, self.board, near=near).cycles


def _order(runs: Sequence[AccessRuns]) -> tuple[Place, Place] | None:
    """The innermost loop, which skips elements, and one around it, which goes to neighbours; None unless all accesses
    to a buffer are loads that have these same two."""
    pairs = {
        (_loop(one, lambda step, size: abs(step) > size), _loop(one, lambda step, size: step == size)) for one in runs
    }
    if len(pairs) > 1 or any(one.kind == "store" for one in runs):
        return None
    ((inner, outer),) = pairs
    if inner is None or outer is None or any(one.loop != inner for one in runs):
        return None
    return inner, outer


def _skips_then(runs: AccessRuns, inner: Place, outer: Place) -> bool:
    """Whether an access in the inner loop, which goes to neighbours now, would skip through memory with the loops
    exchanged."""
    steps = {one.loop: _only(one) for one in runs.strides}
    now, then = steps.get(inner), steps.get(outer)
    near = now is not None and abs(now) <= runs.bytes
    return runs.loop == inner and near and (then is None or abs(then) > runs.bytes)


def _loop(runs: AccessRuns, wanted: Callable[[int, int], bool]) -> Place | None:
    for one in runs.strides:
        step = _only(one)
        if one.loop is not None and step is not None and wanted(step, runs.bytes):
            return one.loop
    return None


def _only(stride: Stride) -> int | None:
    """The stride of every iteration; None if they differ."""
    found = {(one.low, one.high) for one in stride.bytes.ranges}
    ((low, high),) = found if len(found) == 1 else [(0, 1)]
    return low if low == high else None


def _is_moved(planned: Planned, ops: Sequence[Op]) -> bool:
    """Whether the kernel works on a copy on the chip already, by the compiler's own means."""
    stands = {op: region for region in regions(planned.plan) for op in region.place}
    loops = [stands[op].loop for op in ops if op in stands]
    return any(loop is not None and loop.attrs.get(Attr.COPYING) == Copying.MOVES for loop in loops)


def _met(planned: Planned, ops: Sequence[Op]) -> bool:
    """Whether loads and stores may meet: a hazard unit forwards what an array on the chip would wait for, and only the
    schedule of that array would tell how long."""
    return any(one in ops for hazard in planned.memory.hazards.values() for one in (*hazard.loads, *hazard.stores))


def _takes_vectors(planned: Planned, workload: Workload) -> bool:
    """Whether a work-item could do the work of its neighbours: nothing is shared among them, all of them run each loop
    as often, every access goes to neighbours, and no attribute of the group's size makes lanes a knob."""
    function = planned.function
    apart = function.attrs.get(Attr.NDRANGE) and not function.attrs.get(Attr.WORK_GROUP_SIZE)
    if not apart or workload.global_size[0] % VECTOR or not workload.accesses:
        return False
    if any(op.opcode in _SHARED for op in walk(function.body)) or not _are_scalars(planned):
        return False
    if not all(runs_alike(one, op) for one in function.body.ops for op in _loops_inside(one)):
        return False
    if any(_only(stride) != one.bytes for one in workload.accesses for stride in one.strides if stride.loop is None):
        return False
    scalars = sum(one.kind == "scalar" for one in function.params)
    forms, given = AffineForms(function), frozenset(function.args[:scalars])
    return all(_is_whole(forms.offset(op), VECTOR * one.bytes, given) for op, one in planned.memory.outside.items())


def _loops_inside(op: Op) -> list[Op]:
    return [one for region in op.regions for one in walk(region) if one.opcode == "loop"]


def _are_scalars(planned: Planned) -> bool:
    """Whether all pointers go to buffers of scalars, which are accessed as these: vectors of them exist."""
    elements = {one.name: element_of(one) for one in planned.function.params if one.kind != "scalar"}
    kinds = {one.kind for one in planned.function.params}
    return (
        kinds <= {"scalar", "buffer"}
        and all(one is not None and one.components == 1 for one in elements.values())
        and all(present(elements[one.memory]).bytes == one.bytes for one in planned.memory.outside.values())
    )


def _is_whole(offset: Affine, whole: int, given: frozenset[Value]) -> bool:
    """Whether an access with this offset stays a multiple of ``whole`` bytes away from the work-item's own place: not
    so the neighbours of a stencil, which begin inside a vector. A row's start is taken to be such a multiple, but not
    a number that the host has ``given``."""
    return (
        offset.const % whole == 0
        and all(offset.terms[loop] % whole == 0 for loop in offset.loops())
        and not any(one.value in given for one in offset.symbols())
    )
