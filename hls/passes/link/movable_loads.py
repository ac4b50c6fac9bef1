"""Which loads may run ahead of the rest of their kernel, and why others may not."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from ...analysis.dependence.dependence import Dependence, Kind, dependences
from ...analysis.predicates.implication import implied
from ...diag import Span, at_line
from ...ir import Attr, Function, Op, has, is_early, memory_name, predicate, reaches_memory, walk
from ...ir.accesses import reads_anew
from ...ir.launch import units_of
from ...ir.rewrite import constant
from ..loops.marked_loops import marked_loops
from .access_slice import AccessSlice

__all__ = ["Cause", "Kept", "MovableLoads", "is_effect", "obstacle"]


class Cause(Enum):
    """Why a load stays in its place; each is the end of a sentence, and what to do."""

    TRUE_DEPENDENCE = "reads what the kernel stores", "keep the element in a variable from one iteration to the next"
    UNKNOWN_DEPENDENCE = (
        "may read what the kernel stores",
        "write `#pragma ivdep` if no iteration reads what another one stores",
    )
    OVERLAP = (
        "reads what the kernel stores if the host passes buffers that overlap",
        "declare the buffers `restrict` if they never overlap",
    )
    OVERWRITTEN = (
        "must be made before the kernel stores there",
        "let what is stored depend on the value that is loaded, or store to another buffer",
    )
    SYNCHRONIZED = (
        "stands behind an atomic operation or a fence",
        "load before it, or split the kernel by hand where the order does not matter",
    )
    VOLATILE = "is volatile: others may write there meanwhile", "remove `volatile` if nobody does"
    DECIDED_BY_KERNEL = (
        "has an address or a condition that depends on what stays",
        "compute the address from arguments, counters and loads of buffers that the kernel does not store to",
    )
    CHANNEL_ORDER = (
        "stands behind a call of a channel of the program",
        "load before the call, or split the kernel by hand where the order does not matter",
    )
    MADE_EARLY = "is made early already", "nothing is to be gained"
    TAKES_TURNS = (
        "is in a loop whose invocations take turns",
        "let it stay: invocations that receive values would run one after the other, at the pace of what each carries",
    )

    def __init__(self, text: str, remedy: str) -> None:
        self.text, self.remedy = text, remedy


@dataclass(frozen=True)
class Kept:
    """A load that stays, and why. ``other`` is the store, atomic operation, fence, call, load or loop that it is about;
    ``distance`` in iterations, where a dependence across iterations has a known one."""

    load: Op
    cause: Cause
    other: Op | None = None
    distance: int | None = None

    def __str__(self) -> str:
        other = f" ({self.other.opcode}{at_line(self.other.span)})" if self.other is not None else ""
        plural = "" if self.distance == 1 else "s"
        apart = f", {self.distance} iteration{plural} before" if self.distance else ""
        return f"the load of {memory_name(self.load)}{at_line(self.load.span)} {self.cause.text}{other}{apart}"


_FENCES = frozenset({"mem_fence", "fence", "barrier", "meet", "group", "atomic"})
_CALLS = frozenset({"channel_read", "channel_write"})


def obstacle(function: Function) -> str | None:
    """Why nothing of the kernel can be split off, whatever its loads are; None if something may."""
    if function.attrs.get(Attr.AUTORUN):
        return "it runs by itself, without a launch that could start a second part"
    if units_of(function) > 1:
        return "it has several compute units, which cannot share a channel"
    if any(op.opcode in ("barrier", "meet", "group") for op in walk(function.body)):
        return "its work-items synchronize at barriers"
    return None


class MovableLoads:
    """The loads of a flat kernel that may be made by a kernel of their own, ahead of its other operations.

    What has been loaded arrives in program order, so that a store that waits for a load's value in each iteration comes
    after this load and all of its earlier executions. Every other store that the load may meet keeps it in its place,
    whichever of them comes first.

    ``turning`` are the places of loops whose invocations take turns in the recurrence of the loop while the kernel is
    whole. Calls of channels have the program's order, in which invocations come one after the other, so what such a
    loop loads stays in it.

    Where the program marks loops with ``feed_forward``, only what they load moves, with the loads that decide the
    addresses and the conditions of these.
    """

    def __init__(self, function: Function, address_bits: int, turning: Collection[Span] = ()) -> None:
        self.function = function
        self._turning = turning
        self.slices = AccessSlice(function)
        self._place = {op: k for k, op in enumerate(walk(function.body))}
        self._loops = _loops_around(function)
        self._address_bits = address_bits
        #: the loops that the program marks, in its order
        self.marked = tuple(marked_loops(function))

    @cached_property
    def decided(self) -> tuple[tuple[Op, ...], tuple[Kept, ...]]:
        """(the loads that may move, those that stay), in program order."""
        loads = [op for op in self._place if op.opcode == "load" and self._is_global(op)]
        kept = {load: found for load in loads if (found := self._alone(load)) is not None}
        met = self._met()
        kept |= {load: met[load] for load in loads if load in met and load not in kept}
        self._keep_decided(loads, kept)
        if self.marked:
            kept = {load: one for load, one in kept.items() if self.within(load, self.marked)}
            needed = self.slices.of(load for load in loads if load not in kept and self.within(load, self.marked))
            loads = [load for load in loads if load in kept or load in needed]
        return tuple(load for load in loads if load not in kept), tuple(kept[load] for load in loads if load in kept)

    def within(self, op: Op, loops: Collection[Op]) -> bool:
        """Whether the operation is in one of the loops."""
        return not self._loops[op].isdisjoint(loops)

    def _keep_decided(self, loads: list[Op], kept: dict[Op, Kept]) -> None:
        """Keep also the loads that need a value of what stays."""
        needs = {load: self.slices.of([load]) - {load} for load in loads if load not in kept}
        stays = {op for op in self._place if op.opcode in (*_CALLS, "atomic")} | set(kept)
        while found := next(((a, b) for a, ops in needs.items() for b in self._first(ops & stays)), None):
            load, other = found
            kept[load] = Kept(load, Cause.DECIDED_BY_KERNEL, other)
            stays.add(load)
            del needs[load]

    def _first(self, ops: Iterable[Op]) -> list[Op]:
        return sorted(ops, key=self._place.__getitem__)[:1]

    def _is_global(self, op: Op) -> bool:
        return self.function.memories[memory_name(op)].space == "global"

    def _alone(self, load: Op) -> Kept | None:
        """What keeps the load, stores apart."""
        if is_early(load):
            return Kept(load, Cause.MADE_EARLY)
        if self.function.memories[memory_name(load)].volatile or reads_anew(load, self.function):
            return Kept(load, Cause.VOLATILE)
        if (loop := self.turn(load)) is not None:
            return Kept(load, Cause.TAKES_TURNS, loop)
        for opcodes, cause in ((_FENCES, Cause.SYNCHRONIZED), (_CALLS, Cause.CHANNEL_ORDER)):
            before = (op for op in self._place if op.opcode in opcodes and self._may_precede(op, load))
            if (other := next(before, None)) is not None:
                return Kept(load, cause, other)
        return None

    def turn(self, op: Op) -> Op | None:
        """A loop around the operation whose invocations take turns."""
        around = (one for one in self._loops[op] if one.opcode == "loop" and one.span in self._turning)
        return min(around, key=self._place.__getitem__, default=None)

    def _may_precede(self, op: Op, load: Op) -> bool:
        """Whether some execution of ``op`` comes before one of the load."""
        return self._place[op] < self._place[load] or bool(self._loops[op] & self._loops[load])

    def _met(self) -> dict[Op, Kept]:
        """The loads that meet a store in the wrong order: of several, the first known dependence, else the first."""
        names = {name for name, memory in self.function.memories.items() if memory.space == "global"}
        found: dict[Op, Kept] = {}
        for fact in dependences(self.function, self._address_bits, names):
            load, other = (fact.src, fact.dst) if fact.kind is Kind.WAR else (fact.dst, fact.src)
            if load.opcode != "load" or fact.kind is Kind.WAR and self._awaits(other, load):
                continue
            one = _of_dependence(load, other, fact)
            if load not in found or one.cause is Cause.TRUE_DEPENDENCE is not found[load].cause:
                found[load] = one
        return found

    def _awaits(self, store: Op, load: Op) -> bool:
        """Whether each execution of the store waits for the load's value of the same iteration.

        The value must come through pure operations: through a loop it may be that of an earlier iteration. Where the
        load is not made, nothing is waited for, so the store's condition must imply the load's.
        """
        if not self._loops[load] <= self._loops[store]:
            return False
        wanted = predicate(load)
        if constant(wanted) != 1 and not implied(predicate(store)).get(wanted, False):
            return False
        work, seen = list(store.operands), set[Op]()
        while work:
            op = work.pop().op
            if op is load:
                return True
            if op is not None and op not in seen and has(op, "pure"):
                seen.add(op)
                work += op.operands
        return False


def _of_dependence(load: Op, other: Op, fact: Dependence) -> Kept:
    if other.opcode == "atomic":
        return Kept(load, Cause.SYNCHRONIZED, other)
    if fact.overlap:
        return Kept(load, Cause.OVERLAP, other)
    if fact.kind is Kind.WAR:
        return Kept(load, Cause.OVERWRITTEN, other)
    if not fact.known:
        return Kept(load, Cause.UNKNOWN_DEPENDENCE, other)
    return Kept(load, Cause.TRUE_DEPENDENCE, other, fact.distance)


def _loops_around(function: Function) -> dict[Op, frozenset[Op]]:
    """The loops around each operation."""
    found: dict[Op, frozenset[Op]] = {}
    work = [(function.body, frozenset[Op]())]
    while work:
        region, around = work.pop()
        for op in region.ops:
            found[op] = around
            work += [(inner, around | {op}) for inner in op.regions]
    return found


def is_effect(op: Op) -> bool:
    """Whether an operation has an effect of its own, or is an access: what a part keeps only if it is chosen."""
    return reaches_memory(op) or has(op, "effect") or has(op, "wait")
