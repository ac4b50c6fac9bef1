"""The delay lines (histories) of a loop's carried values, connected to the level in which they are written and read."""

from typing import TYPE_CHECKING

from amaranth import *

from rtl_lib.delay_lines import History, Tap

from ..planning.schedule import Carried, RegionPlan

if TYPE_CHECKING:
    from .context import KernelContext
    from .level import LevelBuilder

__all__ = ["LoopHistory", "histories_of"]


def histories_of(context: "KernelContext", plan: RegionPlan) -> dict[int, "LoopHistory"]:
    """The delay line of each computed carried value that others delay, by its index."""
    return {c.index: LoopHistory(context, plan, c) for c in plan.carried if c.root == c.index}


def _tokens(m: Module, found: list[tuple], shape) -> tuple:
    """How many tokens of the newest invocation are among ``found``, and whether its first one is.

    ``found`` lists, from old to new, (number of tokens, whether their invocation begins there). Halves are combined, so
    that the depth grows with the logarithm; each sum has a signal, as both branches of a multiplexer would repeat it
    otherwise.
    """
    if not found:
        return C(0, shape), C(0, 1)
    if len(found) == 1:
        return found[0]
    half = len(found) // 2
    (older, before), (newer, starts) = (_tokens(m, part, shape) for part in (found[:half], found[half:]))
    count, began = Signal(shape), Signal()
    m.d.comb += [count.eq(Mux(starts, newer, older + newer)), began.eq(before | starts)]
    return count, began


class LoopHistory:
    """One delay line: the tokens that write it, and for each tap how many of them have not written yet."""

    def __init__(self, context: "KernelContext", plan: RegionPlan, root: Carried) -> None:
        self.context, self.plan, self.root = context, plan, root
        chain = [c for c in plan.carried if c.root == root.index]
        self.chain = sorted(chain, key=lambda c: c.steps)  # index k is the value of k + 1 iterations ago
        # the level's own spacing counts: the loop's II may be larger because of a later level
        apart = plan.levels[root.write.level].spacing
        most = [(root.write.stage - c.read.stage) // apart for c in self.chain]
        self.part = History(
            context.values.width(root.arg),
            len(self.chain),
            tuple(Tap(c.steps, ahead) for c, ahead in zip(self.chain, most, strict=True)),
        )
        self._kept: list[Signal] | None = None

    def write(self, builder: "LevelBuilder") -> None:
        """Add the writes; called for the level in which the values are written."""
        stage, port = self.root.write.stage, self.part.write
        builder.m.d.comb += [
            port.valid.eq(builder.valid(stage)),
            port.first.eq(builder.at(self._first, stage)),
            port.value.eq(builder.at(self.root.next, stage)),
        ]
        builder.m.d.comb += [port.initial[k].eq(builder.at(self._initial(c), stage)) for k, c in enumerate(self.chain)]

    def read(self, builder: "LevelBuilder", carried: Carried) -> Signal:
        """The signal of a carried value at its read point."""
        stage, tap = carried.read.stage, self.part.tap(carried.steps - 1)
        first = builder.at(self._first, stage)
        ahead, begins = self._ahead(builder, carried)
        builder.m.d.comb += [tap.ahead.eq(Mux(first, 0, ahead)), tap.begins.eq(first | begins)]
        for k, c in enumerate(self.chain[: carried.steps]):
            # the first token of a single invocation brings the initial values; later tokens find them stored
            own = builder.at(self._initial(c), stage)
            always = not self.plan.once or self.context.values.fixed(self._initial(c)) is not None
            kept = own if always else Mux(first, own, self._left(builder)[k])
            builder.m.d.comb += tap.initial[k].eq(kept)
        signal = Signal(self.context.values.width(carried.arg), name=self.context.names.value(carried.arg))
        builder.m.d.comb += signal.eq(tap.value)
        return signal

    def _ahead(self, builder: "LevelBuilder", carried):
        """Registers with the number of tokens of an invocation that have passed ``carried.read`` and not yet written,
        and whether its first one is among them: then no others precede it."""
        name = self.context.names.value(carried.arg)
        ahead = Signal(range(carried.steps), name=f"{name}_ahead")
        begins = Signal(name=f"{name}_begins")
        found = [
            (builder.present(stage), builder.present(stage) & builder.at(self._first, stage))
            # from the oldest; each moves on by one stage
            for stage in range(carried.write.stage - 1, carried.read.stage - 1, -1)
        ]
        count, began = _tokens(builder.m, found, ahead.shape())
        builder.clocked(ahead.eq(count))
        builder.clocked(begins.eq(began))
        return ahead, begins

    def _left(self, builder: "LevelBuilder"):
        """Registers with the initial values of the single invocation."""
        if self._kept is None:
            self._kept = [
                Signal(self.context.values.width(c.arg), name=f"{self.context.names.value(c.arg)}_start")
                for c in self.chain
            ]
            enters = builder.present(0) & builder.at(self._first, 0)
            for kept, c in zip(self._kept, self.chain, strict=True):
                with builder.m.If(enters):
                    builder.clocked(kept.eq(builder.at(self._initial(c), 0)))
        return self._kept

    def _initial(self, carried):
        return self.context.loops.initial(self.plan, carried.index)

    @property
    def _first(self):
        return self.context.loops.pseudo[self.plan].first
