"""A region as hardware: its header, its levels connected by queues, and its exit.

Levels are built from the last to the first: what a level needs at its entry, and no response brings, must be carried by
the bypass queue of the boundary before it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from amaranth import C, Module, Mux, Signal, unsigned
from amaranth import Value as HardwareValue
from amaranth.lib import data

from rtl_lib.barrier_loop import RingHeader
from rtl_lib.credits import CreditCounter
from rtl_lib.delay import EventDelay
from rtl_lib.exit_buffer import ExitBuffer, ExitFifo, GroupExits
from rtl_lib.invocation_window import InvocationWindow
from rtl_lib.loop import LoopHeader
from rtl_lib.slots import SlotEvent
from rtl_lib.state import SlotReady, SlotRegister

from ..ir import Attr, IntType, Op, Value, is_early
from ..narrow import present
from ..planning.schedule import Carried, RegionPlan, Window
from .carried_delay_lines import histories_of
from .level import LevelBuilder
from .queues import LevelQueues

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["Pseudo", "RegionBuilder"]


@dataclass(frozen=True)
class Pseudo:
    """The values that the header adds to a token beside invariants; available at the entry of level 0."""

    slot: Value
    first: Value
    entry: Value
    epoch: Value  #: of a speculative loop: changes when an invocation's last token is known
    initial: tuple[Value, ...]

    @classmethod
    def of(cls, plan: RegionPlan) -> "Pseudo":
        """New values of the widths that the plan needs: slots, entries, and the initial carried values."""

        def bits(n):
            return IntType(max(1, (n - 1).bit_length()))

        initial = tuple(Value(arg.type, f"{arg.name or 'carried'}_init") for arg in plan.region.args)
        return cls(
            Value(bits(plan.slots), "slot"),
            Value(IntType(1), "first"),
            Value(bits(plan.entries), "entry"),
            Value(IntType(1), "epoch"),
            initial,
        )


class RegionBuilder:
    """Builds one region into ``self.m``; a loop offers ``header.i`` for requests and ``exit.o`` for results."""

    def __init__(self, context: "KernelContext", plan: RegionPlan) -> None:
        self.context, self.plan = context, plan
        self.m = Module()
        self.pseudo = context.loops.pseudo[plan] = Pseudo.of(plan)
        self._errors: dict = {}
        self.results = [r for r in plan.loop.results if context.values.used(r)] if plan.loop else []
        self.again_events: list = []
        self.ready_events: dict[int, list] = {}
        self.ready_parts: dict[int, SlotReady] = {}
        self.windows: list[tuple[int, Window, CreditCounter | InvocationWindow]] = []
        #: by level and group: whether the token at the entry would be the first of a group for which there is no room
        self.full: dict[tuple[int, Op], HardwareValue] = {}
        self.children = {
            op: (RingBuilder if child.ring else RegionBuilder)(context, child) for op, child in self._loops()
        }
        if plan.loop is not None:
            self._make_loop_parts()

    def _loops(self):
        loops = self.context.plan.loops
        return [(row.op, loops[row.op]) for level in self.plan.levels for row in level.row if row.op in loops]

    def _make_loop_parts(self) -> None:
        context, plan = self.context, self.plan
        initial = {f"c{k}": context.values.width(plan.region.args[k]) for k in context.loops.travelling(plan)}
        invariant = {f"v{k}": context.values.width(v) for k, v in enumerate(plan.invariants)}
        result = data.StructLayout({f"r{k}": context.values.width(r) for k, r in enumerate(self.results)})
        self.header: LoopHeader | RingHeader = LoopHeader(
            data.StructLayout(initial),
            data.StructLayout(invariant),
            plan.slots,
            plan.entries,
            speculative=plan.speculative,
            once=plan.once,
        )
        self.epoch = Signal(name="epoch")
        self.exit: ExitFifo | ExitBuffer | GroupExits = (ExitFifo if plan.slots == 1 else ExitBuffer)(
            result, plan.entries
        )
        for c in plan.carried:
            if c.root is None:
                register = context.loops.registers[c.arg] = SlotRegister(
                    unsigned(context.values.width(c.arg)), plan.slots, self._preset(c), c.forwards is not None
                )
                self.m.d.comb += register.restart.eq(context.run.restart)
        context.loops.histories[plan] = histories_of(context, plan)

    def _preset(self, carried: Carried) -> int | None:
        """The reset value of a carried value's register, where that makes selecting the initial value unnecessary."""
        initial = self.context.values.fixed(self.plan.loop_op.operands[1 + carried.index])
        return present(initial).value if carried.preset else None

    def build(self) -> Module:
        """The region's module, with one submodule per level and one per inner loop."""
        m, plan = self.m, self.plan
        for loop, child in self.children.items():
            m.submodules[self.context.names.op(loop)] = child.build()
        if plan.loop is not None:
            m.submodules.header, m.submodules.exit = self.header, self.exit
            self._observe()
            self._make_windows()
            self._control_loop()
        behind = None
        for level in reversed(plan.levels):
            behind = self._level(level, behind)
        return m

    def _control_loop(self) -> None:
        """The logic around the header that decides when it issues."""
        m, plan = self.m, self.plan
        m.d.comb += self.header.retire.eq(self.exit.retire)
        self._make_ready_parts()
        self.again_events = self._either(
            self.header.again, (plan.again, plan.again_delay), (plan.again_overlap, plan.again_overlap_delay), "again"
        )
        if plan.loop_op.attrs.get(Attr.APART_IF_OVERLAP):
            m.d.comb += self.header.apart.eq(self.context.values.overlap)
        if plan.speculative:
            m.d.sync += self.epoch.eq(self.epoch ^ self.header.done.valid)
        for k, c in enumerate(plan.carried):
            if c.root is None:
                m.submodules[f"carried_{self.context.names.value(c.arg)}_{k}"] = self.context.loops.registers[c.arg]
        for root, history in self.context.loops.histories[plan].items():
            m.submodules[f"history_{root}"] = history.part

    def token_values(self) -> dict:
        """The signals, by value, of the token offered by the header."""
        pseudo, plan, token = self.pseudo, self.plan, self.header.o.payload
        sources = {
            pseudo.slot: token.slot,
            pseudo.first: token.first,
            pseudo.entry: token.entry,
            pseudo.epoch: self.epoch,
        }
        sources |= {pseudo.initial[k]: token.initial[f"c{k}"] for k in self.context.loops.travelling(plan)}
        return sources | {v: token.invariant[f"v{k}"] for k, v in enumerate(plan.invariants)}

    def _observe(self) -> None:
        """The signals of the header that counters and the cycle account observe."""
        loop, header = self.plan.loop_op, self.header
        for kind, signal in (
            ("issued", header.issued),
            ("invocations", header.invocations),
            ("running", header.running),
            ("held", header.running & header.starved),
        ):
            self.context.observations.add(kind, loop, signal)

    def _level(self, level, behind: "LevelQueues | None") -> "LevelQueues":
        builder = LevelBuilder(self.context, self.plan, level, self.early_errors)
        queues = LevelQueues(self, builder, behind)
        if level.index == len(self.plan.levels) - 1:
            self._exit(builder)
        if self.plan.loop is not None:
            self._answer(builder)
            self._leave_windows(builder)
        builder.effects()
        builder.check_early_loads()
        if not self.undecided(level.index):
            builder.report_failed_loads()
        queues.push()
        queues.accept()
        self.m.submodules[f"level{level.index}"] = builder
        return queues

    # --- events of a loop's tokens ---

    def _continues(self, builder, stage):
        return builder.at(self.plan.region.terminator.operands[0], stage)

    def _slot_event(self, builder, event, stage, condition) -> None:
        """Drive ``event`` {valid, slot} when a token passes ``stage`` and ``condition`` holds."""
        builder.m.d.comb += event.valid.eq(builder.valid(stage) & condition)
        if self.plan.slots > 1:
            builder.m.d.comb += event.slot.eq(builder.at(self.pseudo.slot, stage))

    def _exit(self, builder) -> None:
        stage = builder.plan.depth - 1
        if self.plan.loop is None:
            builder.m.d.comb += self.context.run.finished.eq(builder.valid(stage))
            return
        if not self.plan.ring and not self.plan.speculative:  # there tokens circulate, or are dropped on their way
            self.context.observations.add("left", self.plan.loop, builder.valid(stage))
        results = dict(zip(self.plan.loop.results, self.plan.region.terminator.operands[1:], strict=True))
        write = self.exit.write
        builder.m.d.comb += write.valid.eq(builder.valid(stage) & ~self._continues(builder, stage))
        for k, result in enumerate(self.results):
            builder.m.d.comb += write.value[f"r{k}"].eq(builder.at(results[result], stage))
        if self.plan.slots > 1:
            builder.m.d.comb += write.entry.eq(builder.at(self.pseudo.entry, stage))

    def _answer(self, builder) -> None:
        """Connect the events by which the level's tokens inform slots and header."""
        self._write_carried(builder)
        self._answer_header(builder)
        self._announce_ready(builder)

    def _write_carried(self, builder) -> None:
        for c in self.plan.carried:
            if c.write.level != builder.plan.index:
                continue
            if c.root is not None:
                if c.root == c.index:
                    self.context.loops.histories[self.plan][c.root].write(builder)
                continue
            register = self.context.loops.registers[c.arg]
            self._slot_event(builder, register.write, c.write.stage, C(1))
            builder.m.d.comb += register.write.value.eq(builder.at(c.next, c.write.stage))

    def _answer_header(self, builder) -> None:
        plan, header = self.plan, self.header
        if plan.decide.level == builder.plan.index:
            self._slot_event(builder, header.done, plan.decide.stage, ~self._continues(builder, plan.decide.stage))
        for (point, delay), event in self.again_events:
            if point.level == builder.plan.index:
                event = self._later(builder.m, event, delay)
                self._slot_event(builder, event, point.stage, self._issues_next(builder, point.stage))

    def _issues_next(self, builder, stage):
        """Whether the token lets the header issue the next one of its invocation."""
        if not self.plan.speculative:
            return self._continues(builder, stage)
        if self.header.marks:
            return C(1)
        # a squashed token issued after the last one has no effect
        return builder.at(self.pseudo.epoch, stage) == self.epoch

    def _later(self, m, event, cycles):
        """An event that drives ``event`` some cycles later; it does not stop with an elastic level."""
        if not cycles:
            return event
        delay = EventDelay(self.plan.slots, cycles)
        m.submodules += delay
        m.d.comb += [event.valid.eq(delay.o.valid), event.slot.eq(delay.o.slot)]
        if self.plan.speculative and not self.header.marks:
            m.d.comb += delay.cancel.eq(self.header.done.valid)
        return delay.i

    def _announce_ready(self, builder) -> None:
        for level, events in self.ready_events.items():
            for point, event in events:
                if point.level == builder.plan.index:
                    condition = C(1) if self.undecided(level) else self._continues(builder, point.stage)
                    self._slot_event(builder, event, point.stage, condition)

    def _make_ready_parts(self) -> None:
        for level in self.plan.levels:
            if level.ready_overlap is not None:
                part = SlotReady(self.plan.slots, ready=self.undecided(level.index))
                self.ready_parts[level.index] = self.m.submodules[f"ready{level.index}"] = part
                name = f"ready{level.index}_set"
                self.ready_events[level.index] = self._either(part.set, level.ready, level.ready_overlap, name)

    def _either(self, target, point, overlap_point, name: str):
        """Points of a token with the events to be driven there, so that ``target`` gets the event of ``overlap_point``
        in runs in which buffers overlap, and that of ``point`` (None: none) in others."""
        if point == overlap_point:
            return [(point, target)]
        overlap, points = self.context.values.overlap, [p for p in (point, overlap_point) if p is not None]
        events = [SlotEvent(self.plan.slots).create(path=(f"{name}_{k}",)) for k in range(len(points))]
        usual = events[0] if point is not None else None
        self.m.d.comb += [
            target.valid.eq(Mux(overlap, events[-1].valid, usual.valid if usual else 0)),
            target.slot.eq(Mux(overlap, events[-1].slot, usual.slot) if usual else events[-1].slot),
        ]
        return list(zip(points, events, strict=True))

    def _make_windows(self) -> None:
        for level in self.plan.levels:
            for k, window in enumerate(dict.fromkeys(level.windows)):
                gives = 1 + self._dropped_inside(level.index, window)
                credits = (
                    CreditCounter(window.most, gives)
                    if window.ahead is None
                    else InvocationWindow(window.most, window.ahead)
                )
                self.m.submodules[f"window{level.index}_{k}"] = credits
                self.windows.append((level.index, window, credits))

    def _dropped_inside(self, level: int, window: Window) -> bool:
        """Whether tokens that have entered the window at ``level`` may be dropped before its end."""
        return not window.undecided and self.undecided(level) and not self.undecided(window.until.level)

    def _matters(self, window: Window):
        return self.context.values.overlap if window.overlap else C(1)

    def _leave_windows(self, builder) -> None:
        """Tokens that pass the end of a window release an entry in it."""
        for _, window, credits in self.windows:
            if window.until.level == builder.plan.index and not window.undecided:
                passes = builder.valid(window.until.stage)
                ends = C(1) if window.last is None else builder.at(window.last, window.until.stage)
                builder.m.d.comb += credits.give[0].eq(passes & ends & self._matters(window))

    def leave_undecided(self, index: int, taken: HardwareValue, over: HardwareValue) -> None:
        """Tokens that leave the queue before level ``index``, even if they are dropped because they are ``over``,
        release an entry in windows that end there. Dropped tokens also release one in windows that end later."""
        for level, window, credits in self.windows:
            if window.undecided and window.until.level == index:
                self.m.d.comb += credits.give.eq(taken)
            elif self._dropped_inside(level, window) and index == self.plan.decide.level:
                self.m.d.comb += credits.give[1].eq(taken & over & self._matters(window))

    def enter_windows(self, builder: LevelBuilder) -> list:
        """One gate for each window that begins with the level. A window of groups applies to their first tokens only.
        One between invocations has another gate for first tokens: the window must be empty."""
        gates = []
        for level, window, credits in self.windows:
            if level == builder.plan.index:
                begins = C(1) if window.first is None else builder.at(window.first, 0)
                self.m.d.comb += credits.take.eq(builder.enter & begins & self._matters(window))
                gates.append(credits.available | ~begins | ~self._matters(window))
                if window.group is not None:
                    self.full[builder.plan.index, window.group] = begins & ~credits.available
                if window.ahead is not None:
                    self.m.d.comb += credits.first.eq(builder.at(self.pseudo.first, 0))
                elif window.between:
                    gates.append(credits.idle | ~builder.at(self.pseudo.first, 0))
        return gates

    def observe_windows(self, index: int, there: HardwareValue) -> None:
        """The cycle account's signals for tokens before a level, if any is ``there``, whose group waits for an earlier
        one to leave."""
        for (level, group), waits in self.full.items():
            if level == index:
                self.context.observations.add("group", group, there & waits)

    def late_errors(self, index: int) -> dict[Op, Value]:
        """Loads answered before the deciding level ``index`` of a speculative loop, each with a value that says whether
        it failed: a failure only counts if the token turns out not to be squashed."""
        if not self.plan.speculative or index != self.plan.decide.level:
            return {}
        rows = [row.op for level in self.plan.levels[: index - 1] for row in level.row]
        rows = [op for op in rows if not is_early(op)]
        found = {op: self.error_value(op) for op in rows if self.context.servers.response_error(op) is not None}
        before = [op for op, point in self.plan.place.items() if point.level < index and not is_early(op)]
        inside = [op for op in before if self.context.servers.may_fail(op)]
        self.context.observations.failed |= {self.error_value(op): op for op in inside}
        return found | {op: self.error_value(op) for op in inside}

    @cached_property
    def early_errors(self) -> dict[Op, Value]:
        """The early loads that memory may refuse, each with a value that says whether it did: a failure only counts
        where the program makes the load."""
        early = [op for op in self.plan.place if is_early(op)]
        inside = [op for op in early if self.context.servers.may_fail(op)]
        self.context.observations.failed |= {self.error_value(op): op for op in inside}
        outside = [op for op in early if self.context.servers.response_error(op) is not None]
        return {op: self.error_value(op) for op in (*outside, *inside)}

    def error_value(self, op: Op) -> Value:
        """The value that carries whether a speculative or early load failed."""
        return self._errors.setdefault(op, Value(IntType(1), "failed"))

    def undecided(self, index: int) -> bool:
        """Whether tokens in that level may turn out to come after the last one of their invocation."""
        return self.plan.speculative and index < self.plan.decide.level


class RingBuilder(RegionBuilder):
    """A barrier loop: tokens carry all their values, and circulate through a queue."""

    def _make_loop_parts(self) -> None:
        context, plan = self.context, self.plan
        initial = {f"c{k}": context.values.width(arg) for k, arg in enumerate(plan.region.args)}
        invariant = {f"v{k}": context.values.width(v) for k, v in enumerate(plan.invariants)}
        result = {f"r{k}": context.values.width(r) for k, r in enumerate(self.results)} | {"last": 1}
        ring, left = present(plan.ring), data.StructLayout(result)
        self.place = Value(IntType(max(1, (ring.groups - 1).bit_length())), "place")
        self.header = RingHeader(
            data.StructLayout(initial), data.StructLayout(invariant), ring.groups, ring.items, ring.overtaking
        )
        self.exit = GroupExits(left, ring.groups, ring.items) if ring.overtaking else ExitFifo(left, plan.entries)

    def _control_loop(self) -> None:
        header, last = self.header, present(self.plan.ring).last
        ends = self.context.values.fixed(last)
        if ends is None:
            ends = header.o.payload.invariant[f"v{self.plan.invariants.index(last)}"]
        self.m.d.comb += [header.last.eq(ends), header.left.eq(self.exit.retire & self.exit.o.payload.last)]

    def token_values(self) -> dict:
        token = self.header.o.payload
        sources = {arg: token.initial[f"c{k}"] for k, arg in enumerate(self.plan.region.args)}
        sources |= {self.place: token.place} if present(self.plan.ring).overtaking else {}
        return sources | {v: token.invariant[f"v{k}"] for k, v in enumerate(self.plan.invariants)}

    def _answer(self, builder) -> None:
        """Send the token around once more."""
        stage = builder.plan.depth - 1
        if builder.plan.index != len(self.plan.levels) - 1:
            return
        back, nexts = self.header.back, self.plan.region.terminator.operands[1:]
        builder.m.d.comb += back.valid.eq(builder.valid(stage) & self._continues(builder, stage))
        for k, value in enumerate(nexts):
            builder.m.d.comb += back.value.initial[f"c{k}"].eq(builder.at(value, stage))
        for k, value in enumerate(self.plan.invariants):
            builder.m.d.comb += back.value.invariant[f"v{k}"].eq(builder.at(value, stage))
        if present(self.plan.ring).overtaking:
            builder.m.d.comb += back.value.place.eq(builder.at(self.place, stage))

    def _exit(self, builder) -> None:
        super()._exit(builder)
        stage = builder.plan.depth - 1
        builder.m.d.comb += self.exit.write.value["last"].eq(builder.at(present(self.plan.ring).last, stage))
        if present(self.plan.ring).overtaking:
            builder.m.d.comb += self.exit.write.place.eq(builder.at(self.place, stage))
