"""Advice: what to try first where a loop is slower than it could be. It names only changes that were tried, with their
measured gain.

Each cause has candidates, in order of the expected gain: remove the dependence, relax it, simplify it, move it to
on-chip memory, shift it through registers. Each candidate is tried (see :mod:`hls.planning.what_if`), and those without
a gain are left out.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..analysis.channels.endpoints import is_call
from ..diag import Span
from ..ir import Attr, MemoryObject, Op, Value, is_access, may_share, memory_name, walk
from ..ir.loop_names import place_of
from ..narrow import present
from ..planning.iterate import CompiledKernel
from ..planning.schedule import RegionPlan
from ..planning.schedule.interleaving import crossings
from ..planning.what_if import (
    Bypass,
    Cut,
    InRom,
    Ivdep,
    KnownEarly,
    OneStore,
    PlannedEdit,
    Ports,
    Restrict,
    SourceEdit,
    WhatIf,
    WithPragmas,
    critical_args,
)
from ..sentence import enumerated
from .bottleneck import LoopExplainer
from .model import Bottleneck, Loop, Part, Rewrite, Serial, Share, WouldBe
from .phrasing import say_operation
from .separable_loops import are_separable

__all__ = ["Advisor", "gained", "slowness"]

#: limits: changes reported for one loop, and rounds that add carried values to those cut together
MOST_ADVICE, MOST_ROUNDS = 3, 4
#: all levels of a nest are coalesced
ALL = -1
_BETWEEN = frozenset({Part.REGISTER, Part.CONTROL, Part.ARRIVAL, Part.PIPELINE, Part.INNER_LOOP})
_SUMS, _PRODUCTS = frozenset({"fadd", "fsub"}), frozenset({"fmul"})
#: for each kind of bottleneck that the source itself sets, the loop attributes that set it
_REQUESTS = {
    "request": ("ii",),
    "concurrency": ("max_concurrency", "disable_loop_pipelining"),
    "ahead": ("speculated_iterations",),
}
#: attributes that limit the ports of a memory
_FEW_PORTS = ("singlepump", "numwriteports", "numreadports", "max_replicates", "simple_dual_port")


@dataclass(frozen=True)
class Candidate:
    """A change and how it is tried: as it would be written in the source, or by removing a constraint (``at_best``:
    more than the change itself may remove). ``rewrite`` is how the source is written with it, where that is known."""

    change: str
    source: tuple[SourceEdit, ...] = ()
    planned: tuple[PlannedEdit, ...] = ()
    fp_relaxed: bool | None = None
    at_best: bool = False
    rewrite: Rewrite | None = None


@dataclass(frozen=True)
class Measured:
    """The loops of a planned kernel by source location."""

    plans: Mapping[Span | None, RegionPlan]  #: of the slowest copy of each
    loops: Mapping[Span | None, Loop]


class Advisor:
    """Advice for the loops of one kernel. ``memories`` are the source's by their names in the kernel; ``measure``
    returns the figures of a trial's loops."""

    def __init__(
        self,
        kernel: CompiledKernel,
        what_if: WhatIf,
        explainer: LoopExplainer,
        memories: Mapping[str, MemoryObject],
        measure: Callable[[CompiledKernel], Measured],
    ) -> None:
        self.kernel, self.what_if, self.explainer = kernel, what_if, explainer
        self.memories, self.measure = memories, measure

    def advise(self, plan: RegionPlan, loop: Loop, lossless: bool, sole: RegionPlan | None) -> tuple[WouldBe, ...]:
        """Changes that make the loop faster, with the result of each. ``lossless``: enough invocations are interleaved
        that its II costs nothing; ``sole``: the plan of the only inner loop, if there is exactly one."""
        cause = None if lossless else loop.bottleneck
        found: list[WouldBe] = []
        for candidate in self._candidates(plan, loop, cause, sole):
            would_be = self._try(candidate, plan, loop)
            if would_be is not None and all(would_be.change != other.change for other in found):
                found.append(would_be)
            if len(found) == MOST_ADVICE:
                break
        if not found and cause is not None and cause.kind == "memory":
            found = self._behind(plan, loop, cause)
        return tuple(sorted(found, key=lambda one: one.at_best))

    def _candidates(self, plan: RegionPlan, loop: Loop, cause, sole) -> Iterator[Candidate]:
        if cause is not None:
            yield from self._against(cause, plan)
        elif loop.serial:
            yield from self._across(loop.serial[0], plan)
        limit = Attr.MAX_INTERLEAVING in plan.loop_op.attrs and Attr.INTERLEAVE_REASON not in plan.loop_op.attrs
        if limit and loop.interleaving < plan.ii:
            span, names = plan.loop_op.span, ("max_interleaving",)
            yield Candidate(
                "Remove #pragma max_interleaving",
                (WithPragmas(span, drop=names),),
                rewrite=Rewrite("remove pragmas", span, names),
            )
        if sole is not None and any(op.opcode == "loop" for op in sole.region.ops):
            edit = WithPragmas(sole.loop.span, (("loop_coalesce", ALL),))
            label = sole.loop.attrs.get(Attr.LABEL, "")
            rewrite = Rewrite("pragma", sole.loop.span, ("loop_coalesce",))
            change = f"Coalesce loop {label} and its inner loops with #pragma loop_coalesce"
            yield Candidate(change, (edit,), rewrite=rewrite)

    def copies(self, plan: RegionPlan) -> list[RegionPlan]:
        """Other copies of the loop."""
        place = place_of(plan.loop_op)
        copying = plan.loop_op.attrs.get(Attr.COPYING)
        return [
            other
            for op, other in self.kernel.plan.loops.items()
            if op is not plan.loop and place_of(op) == place and op.attrs.get(Attr.COPYING) == copying
        ]

    # --- trials ---

    def _run(self, candidate: Candidate) -> Measured | None:
        if candidate.planned:
            kernel = self.what_if.in_plan(self.kernel, candidate.planned)
        else:
            kernel = self.what_if.in_source(self.kernel, candidate.source, candidate.fp_relaxed)
        return None if kernel is None else self.measure(kernel)

    def _try(self, candidate: Candidate, plan: RegionPlan, loop: Loop) -> WouldBe | None:
        """The result of the change, or None if it gains nothing."""
        measured = self._run(candidate)
        now = measured.loops.get(plan.loop_op.span) if measured is not None else None
        found = gained(candidate.change, loop, now) if now is not None else None
        return replace(found, at_best=candidate.at_best, rewrite=candidate.rewrite) if found is not None else None

    def _behind(self, plan: RegionPlan, loop: Loop, cause: Bottleneck) -> list[WouldBe]:
        """For a loop that is limited by more than one dependence: changes against the next cause, alone or combined."""
        ivdep = self._ivdep(plan, cause)
        measured = self._run(Candidate("", (ivdep,)))
        other = measured.loops.get(plan.loop_op.span) if measured else None
        if other is None or other.bottleneck is None or other.bottleneck.kind != "resource":
            return []
        found = []
        for candidate in self._against(other.bottleneck, plan):
            would_be = self._try(candidate, plan, loop)
            found += [would_be] if would_be is not None else []
        return found

    # --- candidates, by the kind of bottleneck ---

    def _against(self, cause: Bottleneck, plan: RegionPlan) -> Iterator[Candidate]:
        if cause.kind in _REQUESTS:
            span, names = plan.loop_op.span, _REQUESTS[cause.kind]
            yield Candidate(
                "Remove the pragma unless it is needed for another reason",
                (WithPragmas(span, drop=names),),
                rewrite=Rewrite("remove pragmas", span, names),
            )
        elif cause.kind == "data":
            yield from self._data(cause, plan, critical_args(plan))
        else:
            by_kind = {"memory": self._memory, "condition": self._condition, "resource": self._ports}
            yield from by_kind.get(cause.kind, self._stores)(cause, plan)

    def _across(self, region: Serial, plan: RegionPlan) -> Iterator[Candidate]:
        """Candidates against the dependence that lets one iteration at a time pass inner loops."""
        if region.cause.kind != "data":
            yield from self._against(region.cause, plan)
            return
        args = tuple(c.arg for c, _, _ in crossings(plan) if c is not None)
        loops = enumerated(f"loop {label}".rstrip() for label, _ in region.loops)
        yield from self._anew(loops, region.cause, plan, args)

    def _anew(self, loops: str, cause: Bottleneck, plan: RegionPlan, args: tuple[Value, ...]) -> Iterator[Candidate]:
        if not are_separable(plan, args):
            return
        yield Candidate(
            f"Remove the dependence: let {loops} update a variable declared in this loop, and combine it with "
            f"{cause.subject} after {loops}",
            planned=(self._cut(plan, args),),
            at_best=True,
        )

    def _cut(self, plan: RegionPlan, args: tuple[Value, ...]) -> Cut:
        """The loop without these carried values, and without others that limit it as much."""
        for _ in range(MOST_ROUNDS):
            kernel = self.what_if.in_plan(self.kernel, (Cut(plan.loop_op, args),)) if args else None
            after = self.measure(kernel).plans.get(plan.loop_op.span) if kernel else None
            if after is None or after.ii < plan.ii or len(after.region.args) != len(plan.region.args):
                break
            more = [plan.region.args[arg.index] for arg in critical_args(after)]
            if set(more) <= set(args):
                break
            args = tuple(dict.fromkeys((*args, *more)))
        return Cut(plan.loop_op, args)

    def _ivdep(self, plan: RegionPlan, cause: Bottleneck) -> Ivdep:
        memory = self.memories.get(cause.memory)
        return Ivdep(plan.loop_op.span, memory.span if memory else None)

    def _memory(self, cause: Bottleneck, plan: RegionPlan) -> Iterator[Candidate]:
        ivdep, name = self._ivdep(plan, cause), cause.memory.rpartition(".")[2]
        if cause.distance > 1:
            more = (
                f"Relax the dependence: a distance of more than {cause.distance} iterations makes fewer accesses wait"
            )
            yield Candidate(more, (ivdep,), at_best=True)
        elif cause.memory and not self.explainer.known.contradict(plan.loop_op, cause.memory):
            array = f" array({name})" if ivdep.memory is not None else ""
            words = ("ivdep", array.strip()) if array else ("ivdep",)
            yield Candidate(
                f"Remove the dependence: write #pragma ivdep{array} if no iteration accesses an element of {name} that "
                "another iteration stores",
                (ivdep,),
                rewrite=Rewrite("pragma", plan.loop_op.span, words),
            )
        if cause.distance == 1 and not cause.onchip:
            apart = f"Move it to memory on the chip: copy {name} to a private array before the loop and back after it"
            yield Candidate(apart, (ivdep,), at_best=True)
        if cause.onchip:
            yield from self._less(
                f"the load of an element of {name} and its store", self._without_longest(plan), (ivdep,)
            )

    def _data(self, cause: Bottleneck, plan: RegionPlan, args: tuple[Value, ...]) -> Iterator[Candidate]:
        inner = next((part for part in cause.shares if part.part is Part.INNER_LOOP), None)
        most = _largest(cause)
        if inner is not None and (most is inner or present(most).part is Part.PIPELINE):
            yield from self._anew(f"the inner loop {inner.subject}".rstrip(), cause, plan, args)
            return
        if most is not None and most.part is Part.ROUND_TRIP:
            yield from self._looked_up(
                f"Copy the memory that {cause.subject} is loaded from to a private array, whose latency is low", most
            )
            return
        others = [other for other in self.copies(plan) if critical_args(other)]
        cut = (self._cut(plan, args), *(Cut(other.loop_op, critical_args(other)) for other in others))
        likewise = self._likewise(cut[0], cause)
        if most is not None and most.opcode == "load":
            ahead = "load all candidate elements before the index is known, and select one of them"
            yield Candidate(f"Simplify the recurrence: {ahead}", planned=cut, at_best=True)
        elif most is not None and most.opcode in _SUMS and _nothing_but(cause, _SUMS):
            yield Candidate(
                f"Relax the dependence: shift {plan.ii + 1} partial sums of {cause.subject} through a private array, "
                f"one step an iteration, and add them up after the loop{likewise}",
                planned=cut,
                rewrite=Rewrite(
                    "partial sums", plan.loop_op.span, (cause.subject, *self._beside(cut[0], cause)), plan.ii + 1
                ),
            )
            yield Candidate("Let the compiler do so with -fp-relaxed", fp_relaxed=True)
        elif most is not None and most.opcode in _PRODUCTS and _nothing_but(cause, _PRODUCTS):
            # copies move from register to register, and each is chosen: neither is saved for them
            saved = any(c.forwards is not None or c.preset for c in plan.carried if c.arg in args)
            several = plan.ii + saved
            yield Candidate(
                f"Relax the dependence: rotate through {several} copies of {cause.subject}, and combine them after the "
                f"loop{likewise}",
                planned=cut,
            )
        else:
            more = len(cut[0].args) > len(args)  # others limit the loop as much
            bypass = () if more else self._without_longest(plan)
            yield from self._less(f"the read of {cause.subject} and its update{likewise}", bypass, cut)

    def _beside(self, cut: Cut, cause: Bottleneck) -> tuple[str, ...]:
        """Other variables that limit the loop as much."""
        names = dict.fromkeys(self.explainer.name(arg) for arg in cut.args)
        return tuple(name for name in names if name and name != cause.subject)

    def _likewise(self, cut: Cut, cause: Bottleneck) -> str:
        """What is said of the other variables."""
        others = self._beside(cut, cause)
        return f" (also for {enumerated(others)})" if others else ""

    def _without_longest(self, plan: RegionPlan) -> tuple[Bypass, ...]:
        """The loop, and copies that are as slow, without the longest operation; nothing if it cannot be removed."""
        found = [_longest(one) for one in (plan, *(c for c in self.copies(plan) if c.ii >= plan.ii))]
        return () if None in found else tuple(map(present, found))

    def _less(self, between: str, bypass: tuple[Bypass, ...], otherwise: tuple) -> Iterator[Candidate]:
        """Candidates that shorten the recurrence: without its longest operation if that can be removed, else
        ``otherwise``."""
        if bypass:
            words = say_operation(bypass[0].op, {})
            yield Candidate(
                f"Simplify the recurrence: remove operations between {between}, first the {words}; without it",
                planned=bypass,
            )
            return
        change = f"Simplify the recurrence: remove operations between {between}"
        if isinstance(otherwise[0], Cut):
            yield Candidate(change, planned=otherwise, at_best=True)
        else:
            yield Candidate(change, otherwise, at_best=True)

    def _looked_up(self, change: str, load: Share) -> Iterator[Candidate]:
        memory = self.memories.get(load.subject)
        if memory is not None and memory.span is not None:
            yield from self._restricted(memory, load.subject)
            yield Candidate(change, (InRom(memory.span),))

    def _restricted(self, memory: MemoryObject, name: str) -> Iterator[Candidate]:
        """``restrict`` for a buffer that has no copy on the chip because a buffer that is stored may be the same."""
        function = self.kernel.function
        if name not in dict(self.kernel.copies.others):
            return
        stored = dict.fromkeys(memory_name(op) for op in walk(function.body) if is_access(op) and op.opcode != "load")
        others = [one for one in stored if one != name and may_share(memory, function.memories[one])]
        spans = [memory.span, *(function.memories[one].span for one in others)]
        if others:
            yield Candidate(
                f"Declare {enumerated((name, *others))} restrict if no launch passes overlapping buffers: launches "
                "with small buffers then work on a copy on the chip",
                (Restrict(frozenset(span for span in spans if span is not None)),),
            )

    def _condition(self, cause: Bottleneck, plan: RegionPlan) -> Iterator[Candidate]:
        load = next((part for part in cause.shares if part.part is Part.ROUND_TRIP), None)
        call = next((part for part in cause.shares if part.part is Part.CALL), None)
        trying = _trying(plan, call) if call is not None else None
        early = tuple(KnownEarly(one.loop_op) for one in (plan, *self.copies(plan)))
        if load is not None:
            yield from self._looked_up(
                "Copy the data of the exit condition to a private array, whose latency is a few cycles: the next "
                f"iteration waits for the load of {load.subject}",
                load,
            )
        elif trying is not None:
            yield Candidate(f"Let the call wait instead of trying it again: {trying}", planned=early, at_best=True)
        elif call is not None and call.opcode == "channel_read":
            yield Candidate(
                f"Simplify the exit condition: it depends on the read of channel {call.subject}, and channel reads are "
                "not speculative; send the number of values first, and compare a counter with it",
                planned=early,
                at_best=True,
            )
        else:
            change = "Simplify the exit condition: compute the bound before the loop, and compare a counter with it"
            yield Candidate(change, planned=early, at_best=True)

    def _ports(self, cause: Bottleneck, plan: RegionPlan) -> Iterator[Candidate]:
        memory = self.memories.get(cause.memory)
        if memory is not None and memory.span is not None:
            name, asked = memory.name.rpartition(".")[2], dict(memory.attrs)
            if asked.get("numwriteports") != 2:
                edit = Ports(memory.span, (("doublepump", True), ("numwriteports", 2)), _FEW_PORTS)
                rewrite = Rewrite("attributes", memory.span, ("doublepump", "numwriteports(2)"))
                change = f"Write __attribute__((doublepump, numwriteports(2))) for {name}"
                yield Candidate(change, (edit,), rewrite=rewrite)
            few = tuple(name for name in _FEW_PORTS if name in asked)
            if few:
                yield Candidate(f"Remove {enumerated(few)} from {name}", (Ports(memory.span, (), few),))
        yield from self._stores(cause, plan)

    def _stores(self, cause: Bottleneck, plan: RegionPlan) -> Iterator[Candidate]:
        apart = (
            "or addresses that the compiler can disambiguate, such as loop counters plus different constants"
            if cause.kind == "turns"
            else f"or a separate array for each store instead of {cause.memory}"
        )
        memory = self.memories.get(cause.memory)
        edit = OneStore(plan.loop_op.span, memory.span if memory else None)
        yield Candidate(f"Remove the conflict: use one store an iteration, {apart}", (edit,), at_best=True)


def _largest(cause: Bottleneck) -> Share | None:
    return max(cause.shares, key=lambda part: part.share, default=None)


def _nothing_but(cause: Bottleneck, opcodes: frozenset[str]) -> bool:
    """Whether the recurrence is a plain sum or product: it consists of such operations, and of what lies between
    iterations. Other recurrences cannot be split into parts that are computed in parallel."""
    return all(part.opcode in opcodes or part.part in _BETWEEN for part in cause.shares)


def _longest(plan: RegionPlan) -> Bypass | None:
    """The operation with the largest share of a recurrence, if one of its operands on the recurrence has its type."""
    found = plan.bottleneck
    if plan.cause != "schedule" or found is None or found.kind != "recurrence":
        return None
    keys = [step.src for step in found.steps]
    ops = {key for key in keys if isinstance(key, Op)}
    way = {result for op in ops for result in op.results} | set(critical_args(plan))
    shares = {key: cycles for key, cycles in found.shares().items() if key in ops and len(key.results) == 1}
    op = max(shares, key=shares.__getitem__, default=None)
    if op is None:
        return None
    operand = next((k for k, v in enumerate(op.operands) if v in way and v.type == op.result.type), None)
    return None if operand is None else Bypass(plan.loop_op, op, operand)


def _interval(loop: Loop) -> float | None:
    """Cycles between two iterations; None where that depends on the trip counts of inner loops."""
    if loop.paced is None and loop.serial:
        return None
    return max(loop.ii / loop.interleaving, loop.paced or 0)


def _trying(plan: RegionPlan, call: Share) -> str | None:
    """How a call is written that waits, where a loop ends by the answer of one that does not."""
    found = next(
        (
            op
            for op in plan.region.ops
            if is_call(op) and op.span == call.span and not op.attrs[Attr.BLOCKING] and op.opcode == call.opcode
        ),
        None,
    )
    if found is None:
        return None
    verb, there = ("write", "room") if call.opcode == "channel_write" else ("read", "a value")
    return f"{verb}_channel_intel, or a pipe with __attribute__((blocking)), returns when there is {there}"


def gained(change: str, loop: Loop, now: Loop) -> WouldBe | None:
    """What the change, after which the loop is ``now``, gains; None if that is nothing."""
    if not now.ii or slowness(now) >= slowness(loop):
        return None
    fmax = now.path.fmax_mhz if now.path else None
    return WouldBe(change, now.ii, now.interleaving, fmax, _interval(now))


def slowness(loop: Loop) -> tuple[bool, float]:
    """A sort key: the larger, the slower."""
    interval = _interval(loop)
    return (interval is None, interval if interval is not None else loop.ii / loop.interleaving)
