"""A region as hardware: its header, its levels joined by queues, and its exit.

Levels are built from the last to the first: what a level asks for at its entry and no response brings is what the queue past
the row before it must carry.
"""

from dataclasses import dataclass

from amaranth import *
from amaranth.lib import data

from rtl_lib.exits import ExitBuffer, ExitFifo
from rtl_lib.loop import LoopHeader
from rtl_lib.slots import SlotEvent
from rtl_lib.state import SlotReady, SlotRegister

from ..ir import IntType, Value
from ..schedule import RegionPlan
from .level import LevelBuilder
from .queues import LevelQueues

__all__ = ["Pseudo", "RegionBuilder"]


@dataclass(frozen=True)
class Pseudo:
    """What the header puts into a token beside invariants; available at the entry of level 0."""

    slot: Value
    first: Value
    entry: Value
    epoch: Value  #: of a speculative loop: changes when an invocation's last token is known
    initial: tuple[Value, ...]

    @classmethod
    def of(cls, plan: RegionPlan):
        def bits(n):
            return IntType(max(1, (n - 1).bit_length()))

        initial = tuple(Value(arg.type, f"{arg.name or 'carried'}_init") for arg in plan.region.args)
        return cls(Value(bits(plan.slots), "slot"), Value(IntType(1), "first"), Value(bits(plan.entries), "entry"),
                   Value(IntType(1), "epoch"), initial)


class RegionBuilder:
    """Builds one region into ``self.m``; a loop offers ``header.i`` for requests and ``exit.o`` for results."""

    def __init__(self, context, plan: RegionPlan):
        self.context, self.plan = context, plan
        self.m = Module()
        self.pseudo = context.pseudo[plan] = Pseudo.of(plan)
        self.results = [r for r in plan.loop.results if context.used(r)] if plan.loop else []
        self.children = {op: RegionBuilder(context, child) for op, child in self._loops()}
        if plan.loop is not None:
            self._make_loop_parts()

    def _loops(self):
        loops = self.context.plan.loops
        return [(row.op, loops[row.op]) for level in self.plan.levels for row in level.row if row.op in loops]

    def _make_loop_parts(self):
        context, plan = self.context, self.plan
        initial = {f"c{k}": context.width(plan.region.args[k]) for k in context.travelling(plan)}
        invariant = {f"v{k}": context.width(v) for k, v in enumerate(plan.invariants)}
        result = data.StructLayout({f"r{k}": context.width(r) for k, r in enumerate(self.results)})
        self.header = LoopHeader(data.StructLayout(initial), data.StructLayout(invariant), plan.slots, plan.entries,
                                 speculative=plan.speculative)
        self.epoch = Signal(name="epoch")
        self.exit = (ExitFifo if plan.slots == 1 else ExitBuffer)(result, plan.entries)
        for c in plan.carried:
            context.registers[c.arg] = SlotRegister(unsigned(context.width(c.arg)), plan.slots)

    def build(self) -> Module:
        """The region's module, with one submodule a level and one a loop inside."""
        m, plan = self.m, self.plan
        for k, child in enumerate(self.children.values()):
            m.submodules[self.context.loop_name(child.plan, k)] = child.build()
        if plan.loop is not None:
            m.submodules.header, m.submodules.exit = self.header, self.exit
            self._observe()
            if plan.speculative:
                m.d.sync += self.epoch.eq(self.epoch ^ self.header.done.valid)
            for k, c in enumerate(plan.carried):
                m.submodules[f"carried_{self.context.name(c.arg)}_{k}"] = self.context.registers[c.arg]
        behind = None
        for level in reversed(plan.levels):
            behind = self._level(level, behind)
        return m

    def _observe(self):
        """What counters and the cycle account see of the header."""
        loop, header = self.plan.loop, self.header
        for kind, signal in (("issued", header.issued), ("invocations", header.invocations), ("running", header.running),
                             ("held", header.running & header.starved)):
            self.context.observe(kind, loop, signal)

    def _level(self, level, behind: "LevelQueues | None") -> "LevelQueues":
        builder = LevelBuilder(self.context, self.plan, level)
        queues = LevelQueues(self, builder, behind)
        if level.index == len(self.plan.levels) - 1:
            self._exit(builder)
        if self.plan.loop is not None:
            self._write_carried(builder)
            self._answer_header(builder)
            self._announce_ready(builder)
        queues.push()
        queues.accept()
        self.m.submodules[f"level{level.index}"] = builder.m
        return queues

    # --- events of a loop's tokens ---

    def _continues(self, builder, stage):
        return builder.at(self.plan.region.terminator.operands[0], stage)

    def _slot_event(self, builder, event, stage, condition):
        """Drive ``event`` {valid, slot} when a token passes ``stage`` and ``condition`` holds."""
        builder.m.d.comb += event.valid.eq(builder.valid(stage) & condition)
        if self.plan.slots > 1:
            builder.m.d.comb += event.slot.eq(builder.at(self.pseudo.slot, stage))

    def _exit(self, builder):
        stage = builder.plan.depth - 1
        if self.plan.loop is None:
            builder.m.d.comb += self.context.finished.eq(builder.valid(stage))
            return
        results = dict(zip(self.plan.loop.results, self.plan.region.terminator.operands[1:], strict=True))
        write = self.exit.write
        builder.m.d.comb += write.valid.eq(builder.valid(stage) & ~self._continues(builder, stage))
        for k, result in enumerate(self.results):
            builder.m.d.comb += write.value[f"r{k}"].eq(builder.at(results[result], stage))
        if self.plan.slots > 1:
            builder.m.d.comb += write.entry.eq(builder.at(self.pseudo.entry, stage))

    def _write_carried(self, builder):
        for c in self.plan.carried:
            if c.write.level != builder.plan.index:
                continue
            register = self.context.registers[c.arg]
            self._slot_event(builder, register.write, c.write.stage, C(1))
            builder.m.d.comb += register.write.value.eq(builder.at(c.next, c.write.stage))

    def _answer_header(self, builder):
        plan, header = self.plan, self.header
        if plan.decide.level == builder.plan.index:
            self._slot_event(builder, header.done, plan.decide.stage, ~self._continues(builder, plan.decide.stage))
        if plan.again.level == builder.plan.index:
            event = self._later(builder.m, header.again, plan.again_delay)
            self._slot_event(builder, event, plan.again.stage, self._issues_next(builder, plan.again.stage))

    def _issues_next(self, builder, stage):
        """Whether the token lets the header issue the next one of its invocation."""
        if not self.plan.speculative:
            return self._continues(builder, stage)
        return builder.at(self.pseudo.epoch, stage) == self.epoch  # what was issued behind the last token is over

    def _later(self, m, event, cycles):
        """An event that reaches ``event`` some cycles later: the header's pacing does not stop with the level."""
        over = self.header.done.valid if self.plan.speculative else 0
        for k in range(cycles):
            earlier = SlotEvent(self.plan.slots).create(path=(f"again_{k}",))
            m.d.sync += [event.valid.eq(earlier.valid & ~over), event.slot.eq(earlier.slot)]
            event = earlier
        return event

    def _announce_ready(self, builder):
        for level in self.plan.levels:
            if level.ready is not None and level.ready.level == builder.plan.index:
                ready = self.ready_part(level.index)
                undecided = self.undecided(level.index)
                stage = level.ready.stage
                self._slot_event(builder, ready.set, stage, C(1) if undecided else self._continues(builder, stage))

    def undecided(self, index) -> bool:
        """Whether tokens in that level may turn out to be behind the last one of their invocation."""
        return self.plan.speculative and index < self.plan.decide.level

    def ready_part(self, index) -> SlotReady:
        parts = self.__dict__.setdefault("_ready", {})
        if index not in parts:
            part = SlotReady(self.plan.slots, ready=self.undecided(index))
            parts[index] = self.m.submodules[f"ready{index}"] = part
        return parts[index]
