"""The loops of a kernel as the source nests them, each with its result in hardware."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from ..analysis.channels.endpoints import is_call
from ..diag import Span
from ..ir import Attr, Copying, Module, Op
from ..ir.launch import whole_of
from ..ir.loop_names import Place, loop_names, place_of
from ..narrow import present
from ..planning.compilation import CompiledKernel
from ..planning.schedule import LevelPlan, OperatorTiming, RegionPlan
from ..planning.schedule.interleaving import together
from ..planning.schedule.limits import LoopLimits
from ..planning.what_if import WhatIf
from .accesses import expression_at
from .advice import Advisor, Measured
from .advice_text import say_advice
from .bottleneck import LoopExplainer
from .clock_points import clock_points
from .conflicts import conflicts
from .critical_path import longest_path
from .gone import ONCE, LoopWatch
from .identity import LoopIds
from .known_dependences import KnownDependences
from .model import Bottleneck, Copies, Loop, Part, Unroll
from .pace import Pace
from .phrasing import copies, declared
from .schedule import level_starts
from .source_loops import SourceLoop, source_loops

__all__ = ["collect_loops"]

#: kinds of loops whose name in the IR is not the one for readers
_KINDS = {"ndrange": "work-items"}


def collect_loops(
    kernel: CompiledKernel,
    module: Module,
    memory_latency: int,
    timing: OperatorTiming | None = None,
    what_if: WhatIf | None = None,
) -> LoopIds:
    """All loops of a compiled kernel (:class:`hls.driver.CompiledKernel`), including those without hardware of their
    own.

    ``module`` is the IR before optimization, which still has every loop of the source. ``timing`` is the model the
    kernel was scheduled with; without it, the clock is not reported. ``what_if`` tries the changes for advice; without
    it there is no advice, and no explanation for loops that vanished without a pass saying so.
    """
    collector = _Collector(kernel, module, memory_latency, timing, what_if)
    return LoopIds.of(collector.run(), kernel.function.name, collector.members)


class _Collector:
    def __init__(
        self, kernel: CompiledKernel, module: Module, memory_latency: int, timing: OperatorTiming | None, what_if
    ) -> None:
        self.kernel, self.module, self.plans, self.timing = kernel, module, kernel.plan.loops, timing
        self.memory_latency, self.what_if = memory_latency, what_if
        self.source = source_loops(module, module.functions[whole_of(kernel.function)])
        self.memories = declared(module, whole_of(kernel.function))
        known = KnownDependences(kernel.function, timing.address_bits if timing else 64)
        self.explainer = LoopExplainer(self.memories | copies(kernel.function), self.plans, memory_latency, known)
        self.unrolled = {one.span: one for one in kernel.unrolled}
        self.merged = {one.span: one for one in kernel.merged if one.how != "split"}
        split = {one.span: one.into for one in kernel.merged if one.how == "split"}
        #: by the place of a loop, others in hardware that do a part of each of its iterations
        self.parts = {split[op.span]: op for op in self.plans if op.span in split}
        self.by_place: dict[Place, list[Op]] = {}
        for op in self.plans:
            self.by_place.setdefault(place_of(op), []).append(op)
        self.names = loop_names([loop.place for loop in _all(self.source)])
        self.together = together(kernel.plan)
        self.pace = Pace(self.plans, self.together, self.explainer)
        self.members: dict[str, list[Op]] = {}  #: loops in hardware by provisional id
        self.entered_once = {op for op in kernel.function.body.ops if op.opcode == "loop"}

    def run(self) -> tuple[Loop, ...]:
        loops = tuple(self._loop(loop) for loop in self.source)
        known = {loop.place for loop in _all(self.source)}
        for op in self.plans:  # inner before outer: loops that the source lacks (work-items) enclose the rest
            if op.attrs.get(Attr.FORM) == "ndrange":
                loops = (self._hardware([op], None, loops),)
            elif op in self.entered_once and place_of(op) not in known and op.attrs.get(Attr.FORM):
                loops = (self._hardware([op], None, loops),)  # restart of an autorun kernel
        return loops

    def _loop(self, source: SourceLoop) -> Loop:
        children = tuple(self._loop(child) for child in source.children)
        ops = [op for op in self.by_place.get(source.place, ()) if op.attrs.get(Attr.FORM) != "ndrange"]
        unrolled = self.unrolled.get(source.span)
        unroll = (
            Unroll(unrolled.copies, unrolled.full, "pragma" if unrolled.asked else "automatic") if unrolled else None
        )
        merged = self.merged.get(source.span)
        if ops and merged is None:
            unroll = unroll or self._not_unrolled(source, ops)
            return replace(self._hardware(ops, unroll, children), label=self.names[source.place])
        gone = ""
        if merged is None and unroll is None:
            gone = self._gone.get(source.place, "")
        elif merged is None and present(unroll).full and present(unroll).factor == 1:
            gone, unroll = ONCE, None
        return Loop(
            self.names[source.place],
            source.span,
            0,
            trip_count=unrolled.copies if unrolled else None,
            unroll=unroll,
            children=children,
            part_of=(merged.how, merged.into) if merged else None,
            # a nest that is one loop may be two where the kernel does not work on copies of its buffers
            without_copies=max((self.plans[op].ii for op in ops), default=0),
            id=self._member(ops) if ops else "",
            gone=gone,
            kind=source.form,
        )

    @staticmethod
    def _not_unrolled(source: SourceLoop, ops: list[Op]) -> Unroll | None:
        """Unrolling that was requested but not done."""
        if source.unroll in (0, 1):
            return None
        known = all(Attr.TRIP_COUNT in op.attrs for op in ops)
        why = (
            "it fills a memory that takes an element in a cycle"
            if known
            else "its trip count is not known at compile time"
        )
        return Unroll(None, False, why)

    @cached_property
    def _gone(self) -> dict[Place, str]:
        """What became of loops that no pass has reported."""
        if self.what_if is None:
            return {}
        watch = LoopWatch()
        self.what_if.watch(self.kernel, watch)
        return watch.gone

    def _hardware(self, ops: list[Op], unroll: Unroll | None, children: tuple[Loop, ...]) -> Loop:
        """A loop with ``len(ops)`` copies in hardware; the figures are those of the slowest."""
        every, ops = ops, [op for op in ops if not _without_copies(op)] or ops
        without = [self.plans[op].ii for op in every if op not in ops]
        op = max(ops, key=lambda op: (self.plans[op].ii / self._turns(op), self.plans[op].ii))
        plan = self.plans[op]
        name = self._member([*every, *filter(None, [self.parts.get(op.span)])])
        serial, cause = self.explainer.serial(plan), self.explainer.explain(plan)
        if cause is None and self.pace.limited(plan):
            cause = Bottleneck("concurrency", str(LoopLimits.of(op).tokens), op.span)
        limiting = cause or next((region.cause for region in serial), None)
        ordered = limiting if limiting is not None and limiting.kind == "memory" else None
        loop = Loop(
            label=op.attrs.get(Attr.LABEL, ""),
            span=op.span,
            ii=plan.ii,
            interleaving=self._turns(op),
            slots=plan.slots,
            latency=plan.latency,
            levels=len(plan.levels),
            waits_at=tuple(map(self._waits_at, plan.levels)),
            trip_count=op.attrs.get(Attr.TRIP_COUNT),
            work_items=op.attrs.get(Attr.FORM) == "ndrange",
            bottleneck=cause,
            one_at_a_time=self.pace.one_at_a_time(plan, op in self.entered_once),
            unroll=unroll,
            children=children,
            copies=len(ops),
            without_copies=max((ii for ii in without if ii != plan.ii), default=0),
            interchanged=bool(op.attrs.get(Attr.INTERCHANGED)),
            speculative=plan.speculative,
            limit=LoopLimits.of(op).tokens,
            paced=self.pace.paced(plan, bool(serial)),
            serial=serial,
            additional=self.explainer.additional(plan),
            path=longest_path(plan, self.timing, self.explainer.say) if self.timing else None,
            at_most=self._at_most(plan, cause),
            conflicts=conflicts(plan, self.memory_latency),
            variants=self._variants(ops),
            id=name,
            kind=_KINDS.get(form := str(op.attrs.get(Attr.FORM, "for")), form),
            disabled=bool(op.attrs.get(Attr.DISABLE_LOOP_PIPELINING)),
            speculated=self._speculated(plan),
            waits=expression_at(self.module.sources, ordered.span if ordered else None),
            waits_for=expression_at(self.module.sources, ordered.other if ordered else None),
        )
        return self._with_clock_points(plan, self._advised(plan, loop))

    def _member(self, ops: list[Op]) -> str:
        """The provisional id of a loop that these in hardware are."""
        self.members[name := str(len(self.members))] = ops
        return name

    def _waits_at(self, level: LevelPlan) -> tuple[str, ...]:
        """What a token may wait for between a level and the next; a store is only requested there."""
        found = []
        for row in level.row:
            if row.op in self.plans:
                found.append("inner loops")
            elif is_call(row.op):
                found.append("channels")
            elif row.op.opcode in ("load", "atomic", "fence", "hazard"):
                found.append("memory")
            elif row.op.opcode == "rtl_wait":
                found.append("modules")
        return tuple(sorted(set(found)))

    def _speculated(self, plan: RegionPlan) -> int:
        """Iterations that are issued in the cycles until the exit is known; of a delayed exit the last one."""
        if not plan.speculative:
            return int(Attr.EXIT_DELAYED in plan.loop_op.attrs)
        known = level_starts(self.kernel, plan, self.memory_latency)[plan.decide.level] + plan.decide.stage
        issued, limit = -(-known // plan.ii), LoopLimits.of(plan.loop).ahead
        return issued if limit is None else min(issued, limit)

    def _turns(self, op: Op) -> int:
        return min(self.together[op], self.plans[op].ii)

    def _variants(self, ops: list[Op]) -> tuple[Copies, ...]:
        """The kinds of copies, slowest first; empty if all are equal."""
        found = Counter((self.plans[op].ii, self._turns(op)) for op in ops)
        if len(found) == 1:
            return ()
        alike = [Copies(count, ii, turns) for (ii, turns), count in found.items()]
        return tuple(sorted(alike, key=lambda one: (-one.ii / one.interleaving, -one.ii)))

    def _at_most(self, plan: RegionPlan, cause: Bottleneck | None) -> bool:
        """Whether iterations wait for memory, which may respond at once if it holds the word already, or may not be
        accessed."""
        waits = cause is not None and any(part.part is Part.ROUND_TRIP for part in cause.shares)
        limited = LoopLimits.of(plan.loop).tokens is not None and plan.latency > self.memory_latency
        return (waits and plan.cause != "schedule") or limited

    # --- advice ---

    def _advised(self, plan: RegionPlan, loop: Loop) -> Loop:
        if self.what_if is None or not (loop.bottleneck or loop.serial):
            return loop
        inside = self.pace.inside(plan)
        # if enough invocations are interleaved, no cycles are lost
        lossless = self.together[plan.loop_op] >= max(plan.ii, 2)
        advisor = Advisor(self.kernel, self.what_if, self.explainer, self.memories, self._measure)
        found = advisor.advise(plan, loop, lossless, inside[0] if len(inside) == 1 else None)
        return replace(loop, advice=say_advice(found, loop), would_be=found)

    def _with_clock_points(self, plan: RegionPlan, loop: Loop) -> Loop:
        if self.what_if is None or self.timing is None:
            return loop
        points = clock_points(self.kernel, plan, loop, self.timing, self.what_if, self._measure)
        return replace(loop, clock_points=points)

    def _measure(self, kernel: CompiledKernel) -> Measured:
        """The loops of a trial of the kernel, without advice."""
        timing = self.timing.planned(kernel.memory) if self.timing else None
        trial = _Collector(kernel, self.module, self.memory_latency, timing, None)
        loops = {loop.span: loop for loop in _all_loops(trial.run()) if loop.ii}
        slowest = {span: max(plans, key=lambda plan: plan.ii) for span, plans in trial.by_span().items()}
        return Measured(slowest, loops)

    def by_span(self) -> dict[Span | None, list[RegionPlan]]:
        """The plans of all loops by source location."""
        found: dict[Span | None, list[RegionPlan]] = {}
        for op, plan in self.plans.items():
            if not _without_copies(op):
                found.setdefault(op.span, []).append(plan)
        return found


def _without_copies(loop: Op) -> bool:
    """Whether the loop belongs to the body for launches in which a buffer is larger than its copy."""
    return loop.attrs.get(Attr.COPYING) == Copying.WITHOUT


def _all(loops: tuple[SourceLoop, ...]) -> Iterator[SourceLoop]:
    for loop in loops:
        yield loop
        yield from _all(loop.children)


def _all_loops(loops: tuple[Loop, ...]) -> Iterator[Loop]:
    for loop in loops:
        yield loop
        yield from _all_loops(loop.children)
