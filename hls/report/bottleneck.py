"""Why a loop does not have a smaller initiation interval, taken from the schedule's own explanation."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..analysis.channels.endpoints import is_call
from ..ir import Attr, MemoryObject, Op, TokenType, Value, is_access, memory_name
from ..narrow import instance
from ..planning.memory.plan import SharedPort
from ..planning.schedule import RegionPlan, Window
from ..planning.schedule.interleaving import crossings, on_way, passed
from ..planning.schedule.queues import CALL_LATENCY
from .known_dependences import KnownDependences
from .model import Bottleneck, Part, Serial, Share
from .phrasing import say_operation, variable
from .token_provenance import taker, waited_for

__all__ = ["LoopExplainer"]


class LoopExplainer:
    """Explains the II of one kernel's loops.

    ``memories`` are the source's, ``loops`` the plans of all loops, ``memory_latency`` that of a typical load in
    cycles. ``known`` tells which accesses certainly conflict.
    """

    def __init__(
        self,
        memories: Mapping[str, MemoryObject],
        loops: Mapping[Op, RegionPlan],
        memory_latency: int,
        known: KnownDependences,
    ) -> None:
        self.memories, self.loops, self.memory_latency, self.known = memories, loops, memory_latency, known
        self._serial: dict[RegionPlan, tuple[Serial, ...]] = {}  #: asked again for each loop around

    def explain(self, plan: RegionPlan) -> Bottleneck | None:
        """The bottleneck of a loop: a recurrence within a level, one across levels, or a limit that the source sets.
        For a loop of II 1, the serialized stores in it, or None."""
        if plan.ii == 1:
            return self._turns(plan)
        wishes = {"request": Attr.II, "concurrency": Attr.MAX_CONCURRENCY, "ahead": Attr.SPECULATED_ITERATIONS}
        if plan.cause in wishes:
            return Bottleneck(plan.cause, str(plan.loop_op.attrs.get(wishes[plan.cause], 1)), plan.loop_op.span)
        found = plan.bottleneck
        if plan.cause == "schedule" and found is not None:
            return self._resource(plan, found) if found.kind == "resource" else self._scheduled(plan, found)
        return self._waiting(plan)

    def serial(self, plan: RegionPlan) -> tuple[Serial, ...]:
        """Inner loops that an iteration enters only when the one before has left them."""
        if plan not in self._serial:
            self._serial[plan] = self._find_serial(plan)
        return self._serial[plan]

    def _find_serial(self, plan: RegionPlan) -> tuple[Serial, ...]:
        found: dict[tuple, Bottleneck] = {}
        for carried, start, end in crossings(plan):
            inside = tuple(
                (op.attrs.get(Attr.LABEL, ""), op.span) for op in passed(plan, start, end) if op in self.loops
            )
            if inside:
                found.setdefault(
                    inside, self._crossing(plan, carried.arg, carried.next) if carried else self._late(plan)
                )
        return tuple(Serial(loops, cause) for loops, cause in found.items())

    def additional(self, plan: RegionPlan) -> tuple[Bottleneck, ...]:
        """Dependences through memory from one iteration to a later one, other than the bottleneck and those of serial
        regions."""
        known = [self.explain(plan), *(region.cause for region in self.serial(plan))]
        places = {(one.span, one.other) for one in known if one is not None and one.kind in ("memory", "channel")}
        found: dict[tuple, Bottleneck] = {}
        for c in plan.carried:
            if isinstance(c.arg.type, TokenType) and not c.overlap and not c.between and c.write.level > c.read.level:
                cause = self._ordered(plan, c.arg, c.next)
                if (cause.span, cause.other) not in places:
                    found.setdefault((cause.span, cause.other), cause)
        slowest = self.between(plan)
        return (*found.values(), *([slowest] if slowest else ()))

    def between(self, plan: RegionPlan) -> Bottleneck | None:
        """What the first iteration of an invocation waits for in the pipeline after the last one of the invocation
        before, if it waits longer than the next iteration would anyway. None if how long that takes depends on the run:
        where it waits for other tokens to reach a later level, or for some iterations of one of any length."""
        windows = [
            (one.until.level, one.until.stage + 1 - self._between(plan, one), level.index)
            for level in plan.levels
            for one in level.windows
            if one.between and (one.ahead is None or plan.shortest > 1)
        ]
        level, cycles, entered = max(windows, default=(0, 0, 0))
        if level != entered or cycles <= plan.ii:
            return None
        last = max((c for c in plan.carried if c.between and c.read.level == entered), key=lambda c: c.write)
        return replace(
            self._ordered(plan, last.arg, last.next), kind="invocations", cycles=cycles, distance=1, shares=()
        )

    def _between(self, plan: RegionPlan, window: Window) -> int:
        """The least number of iterations between the last one of an invocation and the one that a window waits for."""
        return 0 if window.ahead is None else max(0, plan.shortest - 1 - window.ahead)

    def _turns(self, plan: RegionPlan) -> Bottleneck | None:
        """Stores of one iteration that are serialized."""
        stores = [
            op
            for level in plan.levels
            for row in level.row
            if row.op in self.loops
            for op in row.op.regions[0].ops
            if Attr.TURNS in op.attrs
        ]
        most = max(stores, key=lambda op: op.attrs[Attr.TURNS], default=None)
        return (
            None
            if most is None
            else Bottleneck(
                "turns", f"{most.attrs[Attr.TURNS]} stores to {memory_name(most)}", most.span, memory=memory_name(most)
            )
        )

    # --- within one level: the critical cycle of the schedule ---

    def _resource(self, plan: RegionPlan, found) -> Bottleneck:
        port = instance(found.resource, SharedPort)
        kinds = ("load", "atomic") if port.reads else ("store", "atomic")
        spans = sorted(
            op.span
            for op in plan.place
            if op.span is not None and op.opcode in kinds and memory_name(op) == port.memory
        )
        lines = ", ".join(str(span.line) for span in spans)
        where = f" (line{'s' * (len(spans) > 1)} {lines})" if spans else ""
        name = port.memory.rpartition(".")[2]
        if port.reads:
            subject = f"{found.uses} loads of {name}{where}, of which {found.limit} can read in a cycle"
        else:
            ports = "one write port" if found.limit == 1 else f"{found.limit} write ports"
            # of a memory with several ports, only some of the stores may be at the one that limits
            uses = f"{found.uses} of {len(spans)}" if found.uses < len(spans) else str(found.uses)
            subject = f"{uses} stores to {name}{where} share {ports}"
        return Bottleneck("resource", subject, spans[0] if spans else None, memory=port.memory, onchip=True)

    def _scheduled(self, plan: RegionPlan, found) -> Bottleneck:
        shares = self._scheduled_shares(plan, found)
        keys = [step.src for step in found.steps]
        carried = [plan.carried[key[1]] for key in keys if isinstance(key, tuple) and key[0] == "write"]
        if not carried:
            place = _place(plan.region.terminator.operands[0], plan)
            return Bottleneck(
                kind="condition",
                subject="continue condition",
                span=place,
                other=None,
                cycles=found.cycles,
                distance=found.distance,
                shares=shares,
            )
        order = next((c for c in carried if isinstance(c.arg.type, TokenType)), None)
        if order is not None and taker(plan.region, order.arg) is not None:
            return replace(
                self._ordered(plan, order.arg, order.next), cycles=found.cycles, distance=found.distance, shares=shares
            )
        named = next((c for c in carried if self.name(c.arg)), carried[0])
        subject = self.name(named.arg) or "a value"
        return Bottleneck("data", subject, _place(named.next, plan), None, found.cycles, found.distance, shares)

    def _scheduled_shares(self, plan: RegionPlan, found) -> tuple[Share, ...]:
        merged: dict[tuple, float] = {}
        for key, cycles in found.shares().items():
            named = self._key(plan, key)
            merged[named] = merged.get(named, 0.0) + cycles
        # cycles that an ordering constraint saves are not part of the chain
        taken = {named: cycles for named, cycles in merged.items() if cycles > 0}
        whole = sum(taken.values()) or 1
        return tuple(
            Share(words, span, cycles / whole, part, opcode, subject)
            for (words, span, part, opcode, subject), cycles in taken.items()
        )

    def _key(self, plan: RegionPlan, key) -> tuple:
        """(words, span, part, opcode, subject) of a node of the scheduling problem (see
        ``hls.planning.schedule.stages``)."""
        if isinstance(key, Op):
            return say_operation(key, self.memories), key.span, Part.OPERATION, key.opcode, _subject(key)
        kind = key[0] if isinstance(key, tuple) else key
        if kind in ("read", "write"):
            name = self.name(plan.carried[key[1]].arg)
            words = f"register of {name}" if name else "register of a carried value"
            return words, None, Part.REGISTER, "", name
        if kind == "in":
            return f"arrival of {self.name(key[1])}".removesuffix(" of "), None, Part.ARRIVAL, "", ""
        return "loop control", None, Part.CONTROL, "", ""

    def name(self, value: Value) -> str:
        """The source's name for a value, "" if it has none."""
        return variable(value, self.memories)

    # --- across levels: from the read of a carried value to its next value ---

    def _waiting(self, plan: RegionPlan) -> Bottleneck:
        """The carried value, or the condition, with the longest path through the levels. Its II is that of runs in
        which no buffers overlap."""
        ways = [
            (c.write, c.arg, c.next)
            for c in plan.carried
            if not c.overlap and not c.between and c.write.level > c.read.level
        ]
        last = max(ways, key=lambda way: way[0], default=None)
        if last is None or not plan.speculative and plan.decide.level and plan.decide >= last[0]:
            return self._late(plan)
        return self._crossing(plan, *last[1:])

    def _late(self, plan: RegionPlan) -> Bottleneck:
        condition = plan.region.terminator.operands[0]
        # what is received from a channel depends on no carried value
        asked = [v for op in plan.region.ops if is_call(op) for v in op.operands]
        shares = self._waiting_shares(plan, [*plan.region.args, *asked], condition)
        return Bottleneck(
            kind="condition",
            subject="continue condition",
            span=_place(condition, plan),
            other=None,
            cycles=plan.ii,
            distance=1,
            shares=shares,
        )

    def _crossing(self, plan: RegionPlan, arg: Value, following: Value) -> Bottleneck:
        if isinstance(arg.type, TokenType):
            return self._ordered(plan, arg, following)
        subject = self.name(arg) or self.name(following) or "a value"
        shares = self._waiting_shares(plan, [arg], following)
        return Bottleneck(
            kind="data",
            subject=subject,
            span=_place(following, plan),
            other=None,
            cycles=plan.ii,
            distance=1,
            shares=shares,
        )

    def _ordered(self, plan: RegionPlan, arg: Value, following: Value) -> Bottleneck:
        """Accesses that consume the token wait for those that produced it in an earlier iteration."""
        held = taker(plan.region, arg)
        memory = memory_name(held) if held is not None and is_access(held) else ""
        gave = waited_for(following, memory, held)
        subject = say_operation(held, self.memories) if held else "an access"
        shares = self._waiting_shares(plan, [arg], following)
        return Bottleneck(
            kind="memory" if held is None or not is_call(held) else "channel",
            subject=subject,
            span=held.span if held else plan.loop_op.span,
            other=gave.span if gave is not None and gave.span else _place(following, plan),
            cycles=plan.ii,
            distance=instance(arg.type, TokenType).distance,
            shares=shares,
            onchip=bool(memory) and self._is_onchip(memory),
            memory=memory,
            proved=self._proved(gave, held, plan.loop_op),
            giver=say_operation(gave, self.memories) if gave is not None else "",
        )

    def _proved(self, gave: Op | None, held: Op | None, loop: Op) -> bool:
        return gave is not None and held is not None and self.known.meet(gave, held, loop)

    def _is_onchip(self, memory: str) -> bool:
        """Buffers have the names that the source gives them."""
        return memory not in self.memories or self.memories[memory].onchip

    def _waiting_shares(self, plan: RegionPlan, start: Iterable[Value], end: Value) -> tuple[Share, ...]:
        """The slowest variable-latency operation of each level on the path; the rest are the pipeline's own stages."""
        way = on_way(plan.region, start, end)
        shares, rest = [], plan.ii
        for level in plan.levels:
            rows = [(self._row_cycles(row.op), row.op) for row in level.row if row.op in way and row.joins]
            if rows:
                cycles, op = max(rows, key=lambda row: row[0])
                cycles = min(cycles, rest)
                rest -= cycles
                shares.append(Share(self._say_row(op), op.span, cycles / plan.ii, _part(op), op.opcode, _subject(op)))
        shares.append(Share("pipeline stages and queues", None, rest / plan.ii, Part.PIPELINE))
        return tuple(share for share in shares if share.share > 0)

    def say(self, op: Op) -> str:
        """A short phrase for an operation."""
        return say_operation(op, self.memories)

    def _row_cycles(self, op: Op) -> int:
        if is_call(op):
            return CALL_LATENCY
        return self.loops[op].latency if op in self.loops else self.memory_latency

    def _say_row(self, op: Op) -> str:
        words = say_operation(op, self.memories)
        if op in self.loops:
            return f"{words} (at least one invocation)"
        return f"{words} (round trip to memory)" if op.opcode == "load" else words


def _part(op: Op) -> Part:
    if op.opcode == "loop":
        return Part.INNER_LOOP
    if is_call(op):
        return Part.CALL
    return Part.ROUND_TRIP if op.opcode == "load" else Part.OPERATION


def _subject(op: Op) -> str:
    """The array, channel or loop that an operation accesses; "" for others."""
    if is_access(op):
        return memory_name(op)
    if is_call(op):
        return op.attrs.get(Attr.CHANNEL, "")
    return op.attrs.get(Attr.LABEL, "") if op.opcode == "loop" else ""


def _place(value: Value, plan: RegionPlan):
    """The source location where a value is computed; that of the loop if it is computed outside."""
    return value.op.span if value.op is not None and value.op.span else plan.loop_op.span
