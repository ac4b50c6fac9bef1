"""The loops of a kernel as the source nests them, each with what became of it."""

from dataclasses import dataclass, replace

from ..diag import Span
from ..ir import Attr, Module, Op, Region
from ..planning.schedule import OperatorTiming, RegionPlan
from ..planning.schedule.interleaving import together
from ..planning.schedule.limits import Limits
from .advice import advise
from .bottleneck import LoopExplainer
from .critical_path import longest_path
from .model import Loop, Unroll
from .phrasing import declared

__all__ = ["collect_loops"]


@dataclass(frozen=True)
class _SourceLoop:
    span: Span | None
    label: str
    unroll: int
    children: tuple["_SourceLoop", ...]


def collect_loops(
    kernel, module: Module, memory_latency: int, timing: OperatorTiming | None = None
) -> tuple[Loop, ...]:
    """All loops of a compiled kernel (:class:`hls.driver.CompiledKernel`), those without hardware of their own
    included.

    ``module`` is the IR before optimization, which still has every loop of the source. ``timing`` is what the kernel
    was scheduled with; without it nothing is said of the clock.
    """
    return _Collector(kernel, module, memory_latency, timing).run()


class _Collector:
    def __init__(self, kernel, module: Module, memory_latency: int, timing: OperatorTiming | None):
        self.kernel, self.module, self.plans, self.timing = kernel, module, kernel.plan.loops, timing
        self.source = module.functions[kernel.function.name]
        self.explainer = LoopExplainer(declared(module, kernel.function.name), self.plans, memory_latency)
        self.unrolled = {one.span: one for one in kernel.unrolled}
        self.merged = {one.span: one for one in kernel.merged}
        self.by_place: dict[Span | None, list[Op]] = {}
        for op in self.plans:
            self.by_place.setdefault(op.span, []).append(op)
        self.together = together(kernel.plan)
        self.entered_once = {op for op in kernel.function.body.ops if op.opcode == "loop"}

    def run(self) -> tuple[Loop, ...]:
        loops = tuple(self._loop(loop) for loop in self._tree(self.source.body))
        for op in self.plans:  # inner before outer: what the source does not have (work-items) stands around the rest
            if op.attrs.get(Attr.FORM) == "ndrange":
                loops = (self._hardware([op], None, loops),)
        return loops

    def _tree(self, region: Region) -> tuple[_SourceLoop, ...]:
        found = []
        for op in region.ops:
            if op.opcode == "loop":
                found.append(
                    _SourceLoop(
                        op.span, op.attrs.get(Attr.LABEL, ""), op.attrs.get(Attr.UNROLL, 0), self._tree(op.regions[0])
                    )
                )
            elif op.opcode == "call":
                found += self._tree(self.module.functions[op.attrs[Attr.CALLEE]].body)
            else:
                found += [loop for inner in op.regions for loop in self._tree(inner)]
        return tuple(found)

    def _loop(self, source: _SourceLoop) -> Loop:
        children = tuple(self._loop(child) for child in source.children)
        ops = [op for op in self.by_place.get(source.span, ()) if op.attrs.get(Attr.FORM) != "ndrange"]
        unrolled = self.unrolled.get(source.span)
        unroll = (
            Unroll(unrolled.copies, unrolled.full, "pragma" if unrolled.asked else "automatic") if unrolled else None
        )
        merged = self.merged.get(source.span)
        if ops and merged is None:
            if unroll is None and source.unroll not in (0, 1):
                known = all(Attr.TRIP_COUNT in op.attrs for op in ops)
                unroll = Unroll(
                    None,
                    False,
                    "it fills a memory that takes an element in a cycle"
                    if known
                    else "its trip count is not known at compile time",
                )
            return replace(self._hardware(ops, unroll, children), label=source.label)
        return Loop(
            source.label,
            source.span,
            0,
            trip_count=unrolled.copies if unrolled else None,
            unroll=unroll,
            children=children,
            part_of=(merged.how, merged.into) if merged else None,
        )

    def _hardware(self, ops: list[Op], unroll: Unroll | None, children: tuple[Loop, ...]) -> Loop:
        """A loop that is there ``len(ops)`` times; the figures are those of the slowest."""
        op = max(ops, key=lambda op: self.plans[op].ii)
        plan = self.plans[op]
        turns = min(self.together[op], plan.ii)
        bottleneck, serial = self.explainer.explain(plan), self.explainer.serial(plan)
        return Loop(
            op.attrs.get(Attr.LABEL, ""),
            op.span,
            plan.ii,
            turns,
            plan.slots,
            plan.latency,
            len(plan.levels),
            op.attrs.get(Attr.TRIP_COUNT),
            op.attrs.get(Attr.FORM) == "ndrange",
            bottleneck,
            self._one_at_a_time(plan),
            unroll,
            children,
            len(ops),
            speculative=plan.speculative,
            limit=Limits.of(op).tokens,
            paced=self._paced(plan, bool(serial)),
            serial=serial,
            additional=self.explainer.additional(plan),
            path=longest_path(plan, self.timing, self.explainer.say) if self.timing else None,
            # where enough invocations take turns, nothing is lost
            advice=advise(
                bottleneck if self.together[op] < max(plan.ii, 2) else None,
                serial,
                plan.ii,
                len(self._inside(plan)) == 1,
            ),
        )

    def _paced(self, plan: RegionPlan, serial: bool) -> int | None:
        """The cycles that the loops inside take for an iteration of this one, if all of them run a known number of
        times. The next one begins when they have issued their last token or, where the region is ``serial``, when they
        have answered."""
        issues = [self._issue(child) for child in self._inside(plan)]
        if not issues or None in issues:
            return None
        return plan.ii + max(issues) - 1 if serial else max(plan.ii, *issues)

    def _inside(self, plan: RegionPlan) -> list[RegionPlan]:
        return [self.plans[row.op] for level in plan.levels for row in level.row if row.op in self.plans]

    def _issue(self, child: RegionPlan) -> int | None:
        """Cycles in which an invocation issues its tokens, others taking their turns meanwhile; None where that depends
        on the run."""
        serial = bool(self.explainer.serial(child))
        paced = self._paced(child, serial) if self._inside(child) else 0
        if paced is None or Attr.TRIP_COUNT not in child.loop.attrs:
            return None
        # one iteration of an invocation at a time leaves the others their turns
        together = self.together[child.loop]
        each = max(child.ii, paced) / together if serial else max(child.ii / together, paced)
        late = self.explainer.between(child)
        return round(child.loop.attrs[Attr.TRIP_COUNT] * max(each, 1)) + (late.cycles - child.ii if late else 0)

    def _one_at_a_time(self, plan: RegionPlan) -> str:
        """Why fewer invocations than the II take turns, where that is so."""
        shared = plan.cause == "schedule" and plan.bottleneck is not None and plan.bottleneck.kind == "resource"
        # turns at a port gain nothing, and a ring takes all of a group
        if self.together[plan.loop] >= plan.ii or shared or plan.ring is not None:
            return ""
        if self.together[plan.loop] < plan.slots:
            return (
                "the loop around it passes its invocations one at a time, so that none take turns"
                if self.together[plan.loop] == 1
                else f"the loop around it passes {self.together[plan.loop]} of its invocations at a time"
            )
        if plan.slots > 1 and Attr.INTERLEAVE_REASON in plan.loop.attrs:
            return f"no more than {plan.slots} invocations take turns: {plan.loop.attrs[Attr.INTERLEAVE_REASON]}"
        if plan.slots > 1:
            return f"the II asks for {plan.ii} invocations in turn; a loop keeps {plan.slots} at most"
        if plan.loop in self.entered_once:
            return "nothing takes turns with this loop: a launch enters it once"
        reason = plan.loop.attrs.get(
            Attr.INTERLEAVE_REASON, "what one invocation writes, the next one may read or overwrite"
        )
        return f"invocations run one at a time: {reason}"
