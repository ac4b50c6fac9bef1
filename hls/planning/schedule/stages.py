"""The modulo schedule of one level: builds its problem, solves it, and reads back the stages.

Beside the level's operations the problem has one node for everything that enters at stage 0, one for each read and
write of a carried value, two for the continue condition (it ends the invocation, and must reach the header before the
next issue), and one for the exit, where all values that later levels need must have arrived.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ...ir import Op, Region, TokenType, Value
from .explain import Bottleneck
from .invocation_order import early
from .levels import Levels, join_values
from .modulo import Scheduler
from .problem import Dependence, Operation, Problem
from .start_groups import that_can_be
from .timing import OperatorTiming

__all__ = ["LevelScheduler", "LevelStages", "Need", "level_scheduler", "used_values"]


@dataclass(frozen=True)
class LevelStages:
    """Stages of one level: of operations, and of reads and writes of carried values by their index."""

    ii: int
    depth: int
    start: dict[Op, int]
    read: dict[int, int]
    write: dict[int, int]
    #: where the continue condition ends an invocation, and where it lets the header issue again; None in other levels
    done: int | None
    again: int | None
    bottleneck: Bottleneck | None
    #: tokens enter a multiple of this number of cycles apart, so that those which share a port never collide
    spacing: int
    period: float  #: clock period that its chains fit, in ns


@dataclass(frozen=True)
class Need:
    """A value that must be available when a token enters a level, or when it leaves it."""

    level: int
    value: Value
    at_entry: bool


@dataclass(frozen=True)
class LevelScheduler:
    """A level before it is scheduled: the II it needs is known before all starts are."""

    levels: Levels
    k: int
    histories: Mapping[int, tuple[int, int]]
    scheduler: Scheduler

    @property
    def least(self) -> int:
        """The least II. Raises :class:`~hls.planning.schedule.modulo.Infeasible` if none works."""
        return self.scheduler.least

    @property
    def bottleneck(self) -> Bottleneck | None:
        """What forbids a smaller II (None if the least is 1)."""
        return self.scheduler.bottleneck

    @property
    def period(self) -> float:
        """The clock period that its chains must fit, in ns."""
        return self.scheduler.problem.period_ns

    def stages(self, ii: int | None = None) -> LevelStages:
        """The schedule with the least II, or with ``ii``. Raises :class:`~hls.planning.schedule.modulo.Infeasible` if
        that is impossible."""
        levels, k, solution = self.levels, self.k, self.scheduler.solve(ii)
        start = solution.start
        return LevelStages(
            ii=solution.ii,
            depth=start["exit"] + 1,
            start={op: start[op] for op, level in levels.op.items() if level == k},
            read={c: start["read", c] for c, level in enumerate(levels.read) if level == k},
            write={
                c: start["write", self.histories.get(c, (c,))[0]] for c, level in enumerate(levels.write) if level == k
            },
            done=start.get("done"),
            again=start.get("again"),
            bottleneck=solution.bottleneck,
            spacing=next(
                m for m in range(solution.resource_ii, solution.ii + 1) if not solution.problem.crowded(m, start)
            ),
            period=self.period,
        )


def level_scheduler(
    timing: OperatorTiming,
    region: Region,
    levels: Levels,
    fixed: frozenset[Value],
    k: int,
    speculative: bool = False,
    histories: Mapping[int, tuple[int, int]] = MappingProxyType({}),
    needs: Sequence[Need] = (),
    settled: bool = False,
    period: float | None = None,
    forwarded: Mapping[int, Op] = MappingProxyType({}),
    preset: Collection[int] = (),
) -> LevelScheduler:
    """The scheduler of level ``k`` of a region; ``fixed`` values are always available.

    ``histories`` lists carried values that equal an earlier value of another one
    (:func:`hls.planning.schedule.carried_delay_lines.histories`), ``forwarded`` those that are read past their register
    (:mod:`hls.planning.schedule.forwarded_values`), ``preset`` those whose register begins with the initial value;
    ``needs`` are those of the region's windows. With
    ``settled``, nothing of level 0 is in its first stage, in which the header still chooses the slot. ``period`` is in
    ns, the target's clock unless given.
    """
    here = [need for need in needs if need.level == k]
    builder = _ProblemBuilder(
        timing=timing,
        region=region,
        levels=levels,
        fixed=fixed,
        k=k,
        speculative=speculative,
        histories=histories,
        needs=here,
        settled=settled and k == 0,
        forwarded=forwarded,
        preset=preset,
    )
    return LevelScheduler(levels, k, histories, Scheduler(builder.build(period or timing.period)))


def used_values(region: Region, levels: Levels) -> Iterator[tuple[Value, int]]:
    """Pairs (value, level in which it is needed), control and loop results included."""
    for op, level in levels.op.items():
        yield from ((v, level) for v in levels.inputs[op])
        if op in levels.offering:
            yield from ((v, level + 1) for v in join_values(op))
    yielded = region.terminator.operands
    if region.terminator.opcode == "yield" and not levels.ring:
        yield from zip(yielded[1:], levels.write, strict=True)
    yield from ((v, levels.count - 1) for v in yielded)


class _ProblemBuilder:
    def __init__(
        self, *, timing, region, levels, fixed, k, speculative, histories, needs, settled, forwarded, preset
    ) -> None:
        self.timing, self.region, self.levels, self.fixed, self.k = timing, region, levels, fixed, k
        self.histories, self.needs, self.settled = histories, needs, int(settled)
        self.forwarded, self.preset = forwarded, preset
        self.decides = levels.decide == k and (k == 0 or speculative) and not levels.ring
        self.nodes: dict = {}
        self.edges: list[Dependence] = []
        self.carried = {} if levels.ring else {arg: c for c, arg in enumerate(region.args)}

    def build(self, period: float) -> Problem:
        self._node("exit")
        self._operations()
        self._carried_values()
        self._decision()
        for need in self.needs:
            self._need(need.value, self._node("entry", earliest=0, latest=0) if need.at_entry else "exit")
        for value, level in used_values(self.region, self.levels):
            if level > self.k:
                self._need(value, "exit")
        if self.k == self.levels.count - 1:
            for value in self.region.terminator.operands:
                self._need(value, "exit")
        self.edges += [Dependence(key, "exit", data=False) for key in self.nodes if key != "exit"]
        limits = {
            node.resource: self.timing.memory_plan.port_limit(node.resource)
            for node in self.nodes.values()
            if node.resource is not None
        }
        return Problem(
            tuple(self.nodes.values()), tuple(self.edges), period, self.timing.overhead, limits, self._groups()
        )

    def _groups(self) -> tuple[tuple[Op, ...], ...]:
        """Operations that start in one cycle. Optional co-start groups, loads that then need no copies of their memory,
        are added where no constraint forbids them."""
        memory = self.timing.memory_plan
        here = (tuple(op for op in group if self.levels.op.get(op) == self.k) for group in memory.together)
        groups = [group for group in here if len(group) > 1]
        wanted = [
            group for group in groups if all(op.opcode == "load" and memory.shared_port(op) is None for op in group)
        ]
        return that_can_be(list(self.nodes), self.edges, [group for group in groups if group not in wanted], wanted)

    def _node(self, key, latency: int = 0, delay=0.0, out_delay=0.0, width: int = 0, **bounds):
        if key not in self.nodes:
            self.nodes[key] = Operation(key, latency=latency, delay=delay, out_delay=out_delay, width=width, **bounds)
        return key

    def _operations(self) -> None:
        for op, level in self.levels.op.items():
            if level != self.k:
                continue
            t = self.timing
            width = 0 if op in self.levels.variable else sum(v.type.bits for v in op.results)
            self._node(op, t.latency(op), t.delay(op), t.out_delay(op), width, resource=t.memory.shared_port(op))
        for op, level in self.levels.op.items():
            if level == self.k:
                for value in self.levels.inputs[op]:
                    self._need(value, op)

    def _carried_values(self) -> None:
        """Reads and writes of carried values, and between them the recurrence through the slot register."""
        nexts = self.region.terminator.operands[1:]
        for arg, value in zip(self.carried, nexts, strict=not self.levels.ring):
            c = self.carried[arg]
            reads, writes = self.levels.read[c] == self.k, self.levels.write[c] == self.k
            if reads:
                self._read(c)
            if c in self.histories:
                if reads:  # and writes
                    self._from_history(c, *self.histories[c])
                continue
            if writes:
                self._need(value, self._node(("write", c)))
            if reads and writes:
                # past the register, a token would read what it writes itself in that cycle
                apart = int(c in self.forwarded)
                self.edges.append(Dependence(("read", c), ("write", c), min_cycles=apart))
                self._recurrence(c, arg.type)

    def _read(self, c: int):
        arg, (_, steps) = self.region.args[c], self.histories.get(c, (c, 1))
        preset = c in self.preset and c not in self.histories
        delay = self.timing.carried(steps, self.forwarded.get(c), preset) if arg.type.bits else 0.0
        return self._node(("read", c), delay=delay, width=arg.type.bits, earliest=self.settled)

    def _from_history(self, c: int, root: int, steps: int) -> None:
        """What was written ``steps`` iterations ago. A token reads before it writes, so that it knows which tokens have
        not written yet."""
        if c == root:
            self._need(self.region.terminator.operands[1 + c], self._node(("write", root)))
        else:
            self._node(("write", root))
        self.edges += [
            Dependence(self._read(c), ("write", root), data=False),
            Dependence(("write", root), ("read", c), distance=steps),
        ]

    def _recurrence(self, c: int, type) -> None:
        """The constraint from the write to the read of a later iteration. A memory token has no register: its consumer
        may start in the cycle in which it is valid. Where the order only matters if buffers overlap, the loop's header
        ensures it in such runs."""
        if not isinstance(type, TokenType):
            past = c in self.forwarded
            self.edges.append(Dependence(("write", c), ("read", c), distance=1, forwarded=past))
        elif not type.overlap and not type.between:
            self.edges.append(Dependence(("write", c), ("read", c), distance=type.distance, data=False))

    def _entering(self, value):
        """The node of a value that is available when a token enters. A block RAM that is slower than the period leaves
        no time for logic, but must not make all schedules impossible."""
        op = value.op
        joins = op in self.levels.offering and self.levels.value.get(value) == self.k
        out = self.timing.answer_output(op) if joins else self.timing.queue_output
        out = 0.0 if self.settled else min(out, max(self.timing.room, self.timing.queue_output))
        return self._node(("in", value), latency=self.settled, delay=out, width=value.type.bits, earliest=0, latest=0)

    def _decision(self) -> None:
        """The continue condition ends the invocation, and returns to the entry: to the header, or to where a
        speculative loop drops tokens."""
        if self.region.terminator.opcode != "yield" or not self.decides:
            return
        condition = self.region.terminator.operands[0]
        back = done = self._node("done", delay=self.timing.slot_read)
        self._need(condition, done)
        if self.k == 0:
            back = self._node("again", delay=self.timing.header)
            self._need(condition, back)
        self._node("issue", earliest=0, latest=0)
        self.edges += [Dependence("issue", back), Dependence(back, "issue", distance=1)]

    def _need(self, value, user) -> None:
        """``user`` needs ``value``: an edge from the node of this level that provides it."""
        if value in self.fixed:
            return
        producer = value.op
        if producer is not None and self.levels.op.get(producer) == self.k and producer not in self.levels.offering:
            source = producer
        elif value in self.carried and self.levels.read[self.carried[value]] == self.k:
            source = self._read(self.carried[value])
        elif self.levels.value.get(value, 0) <= self.k:
            source = self._entering(value)
        else:
            return
        if isinstance(value.type, TokenType):
            self.edges.append(
                Dependence(source, user, data=False, min_cycles=self._done(producer) - early(user, value, self.timing))
            )
        else:
            self.edges.append(Dependence(source, user))

    def _done(self, producer: Op | None) -> int:
        """Cycles from the end of an operation that produces a token until others may rely on it."""
        stores = (
            producer is not None and producer.opcode in ("store", "atomic") and producer not in self.levels.variable
        )
        return int(stores)  # a store that never waits is visible to loads from the next cycle on
