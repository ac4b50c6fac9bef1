"""The rate at which a loop begins iterations, as far as the program determines it, and how many of its invocations are
interleaved."""

from ..ir import Attr, InterleaveReason, Op
from ..narrow import present
from ..planning.schedule import RegionPlan
from ..planning.schedule.limits import LoopLimits
from .bottleneck import LoopExplainer

__all__ = ["Pace"]


class Pace:
    """The pace of the loops of one kernel. ``together``: how many invocations of each run together."""

    def __init__(self, plans: dict[Op, RegionPlan], together: dict[Op, int], explainer: LoopExplainer) -> None:
        self.plans, self.together, self.explainer = plans, together, explainer
        self._known: dict[Op, int | None] = {}  #: the results of :meth:`_issue`, asked again for each loop around

    def inside(self, plan: RegionPlan) -> list[RegionPlan]:
        """The loops directly inside."""
        return [self.plans[row.op] for level in plan.levels for row in level.row if row.op in self.plans]

    def paced(self, plan: RegionPlan, serial: bool) -> int | None:
        """The cycles that inner loops take per iteration of this one, if all their trip counts are known. The next
        iteration begins when they have issued their last token or, if the region is ``serial``, when they have
        responded; if the source limits the iterations in flight, when one of those has ended."""
        issues = self._issues(plan)
        if not issues:
            return None
        free = plan.ii + max(issues) - 1 if serial else max(plan.ii, *issues)
        limit = LoopLimits.of(plan.loop).tokens
        return max(free, -(-self._through(plan) // limit)) if limit else free

    def limited(self, plan: RegionPlan) -> bool:
        """Whether iterations would begin sooner if the source allowed more of them in flight."""
        limit, issues = LoopLimits.of(plan.loop).tokens, self._issues(plan)
        if limit is None or not issues:
            return False
        return -(-self._through(plan) // limit) > max(plan.ii, *issues)

    def _issues(self, plan: RegionPlan) -> list[int]:
        """The cycles that each inner loop issues tokens for; empty if those of one are unknown."""
        found = [self._issue(child) for child in self.inside(plan)]
        return [] if None in found else [present(cycles) for cycles in found]

    def _through(self, plan: RegionPlan) -> int:
        """Cycles from an iteration's issue to its end, including everything that inner loops do for it."""
        more = 0
        for level in plan.levels:
            inside = [self.plans[row.op] for row in level.row if row.op in self.plans]
            more += max((max(0, (self._issue(child) or 0) - child.ii) for child in inside), default=0)
        return plan.latency + more

    def _issue(self, child: RegionPlan) -> int | None:
        """Cycles in which an invocation issues its tokens, interleaved with others; None if that depends on the run."""
        if child.loop_op not in self._known:
            self._known[child.loop_op] = self._find_issue(child)
        return self._known[child.loop_op]

    def _find_issue(self, child: RegionPlan) -> int | None:
        serial = bool(self.explainer.serial(child))
        paced = self.paced(child, serial) if self.inside(child) else 0
        if paced is None or Attr.TRIP_COUNT not in child.loop_op.attrs:
            return None
        # with one iteration at a time, an invocation leaves the other cycles to others
        together = self.together[child.loop_op]
        each = max(child.ii, paced) / together if serial else max(child.ii / together, paced)
        late = self.explainer.between(child)
        return round(child.loop_op.attrs[Attr.TRIP_COUNT] * max(each, 1)) + (late.cycles - child.ii if late else 0)

    def one_at_a_time(self, plan: RegionPlan, entered_once: bool) -> str:
        """Why fewer invocations than the II are interleaved; "" if that is not so."""
        together, attrs = self.together[plan.loop_op], plan.loop_op.attrs
        shared = plan.cause == "schedule" and plan.bottleneck is not None and plan.bottleneck.kind == "resource"
        # interleaving gains nothing where ports are shared, and a barrier loop takes all of a group
        if together >= plan.ii or shared or plan.ring is not None:
            return ""
        if together < plan.slots:
            return (
                "no interleaving: the outer loop starts one invocation at a time"
                if together == 1
                else f"the outer loop starts {together} invocations at a time"
            )
        if entered_once:
            return f"no interleaving: a launch enters this loop once, so the II of {plan.ii} is what an iteration takes"
        asked = _asked(plan.loop_op)
        if asked and plan.slots == LoopLimits.of(plan.loop).slots:
            return f"{asked} allows {_count(plan.slots)} at a time"
        if plan.slots > 1 and Attr.INTERLEAVE_REASON in attrs:
            return f"interleaves at most {plan.slots} invocations: {_reason(plan.loop_op)}"
        if plan.slots > 1:
            return f"{plan.ii} interleaved invocations would hide the II; a loop has at most {plan.slots} slots"
        return f"serialized, one invocation at a time: {_reason(plan.loop_op)}"


def _reason(loop: Op) -> str:
    """Why no more invocations are interleaved, as the pass that limited them noted it."""
    match loop.attrs.get(Attr.INTERLEAVE_REASON):
        case InterleaveReason.AWAITED:
            return "the outer loop waits for its result"
        case InterleaveReason.CHANNEL_ORDER:
            return "channel calls execute in program order"
        case InterleaveReason.GROUP:
            return "the work-items of a group stay together"
        case InterleaveReason.PRIVATE_COPIES:
            return f"the array that each of them fills has {loop.attrs[Attr.MAX_INTERLEAVING]} private copies"
        case _:
            return "an invocation may read or overwrite what the previous one stores"


def _asked(loop: Op) -> str:
    """The pragma of the source that limits the interleaved invocations; "" if there is none."""
    if loop.attrs.get(Attr.DISABLE_LOOP_PIPELINING):
        return "#pragma disable_loop_pipelining"
    if loop.attrs.get(Attr.MAX_INTERLEAVING) and Attr.INTERLEAVE_REASON not in loop.attrs:
        return f"#pragma max_interleaving {loop.attrs[Attr.MAX_INTERLEAVING]}"
    return ""


def _count(slots: int) -> str:
    return "one invocation" if slots == 1 else f"{slots} invocations"
