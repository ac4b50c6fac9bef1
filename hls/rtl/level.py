"""One level of a region as a pipeline: its stages, its entry, and what it pushes into the queues after it.

Signals are made on demand: :meth:`LevelBuilder.at` returns a value at a stage. What brings them there is added when the
level is elaborated, as all stages in which a value is used are known then. Values that no operation of the level
computes are recorded in ``incoming`` and come in at the entry.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from amaranth import C, Elaboratable, Module, Mux, Signal
from amaranth import Value as HardwareValue

from ..ir import Op, Value, has, is_early
from ..ir.accesses import predicate
from ..planning.schedule import LevelPlan, Point, RegionPlan
from .delays import Delay, delay
from .expression import combinational
from .units import pipelined_unit

if TYPE_CHECKING:
    from .context import KernelContext

__all__ = ["LevelBuilder"]


class LevelBuilder(Elaboratable):
    """Builds the module of one level.

    Attributes
    ----------
    m : the module
    enter : high in the cycle in which a token enters (driven by the region)
    go : high in cycles in which the registers move; constant 1 unless the level is elastic
    incoming : values needed at the entry, with their signals (driven by the region)
    errors : the early loads of the region that memory may refuse, each with a value that says whether it did
    """

    def __init__(self, context: "KernelContext", region: RegionPlan, plan: LevelPlan, errors: dict[Op, Value]) -> None:
        self.context, self.region, self.plan, self.errors = context, region, plan, errors
        self.m = Module()
        self.enter = Signal(name="enter")
        self.go = Signal(init=1, name="go") if plan.elastic else C(1)
        self.incoming: dict[Value, Signal] = {}
        self._at: dict[tuple[Value, int], Signal] = {}
        self._carried = {c.arg: c for c in region.carried}
        self._valid = [self.enter]
        for stage in range(1, plan.depth):
            valid = Signal(name=f"valid_{stage}")
            self.clocked(valid.eq(self._valid[-1]))
            self._valid.append(valid)

    def clocked(self, assignment: Any) -> None:
        """Add registers that move with the level's tokens."""
        if self.plan.elastic:
            with self.m.If(self.go):
                self.m.d.sync += assignment
        else:
            self.m.d.sync += assignment

    def valid(self, stage: int) -> HardwareValue:
        """High in cycles in which a token is in ``stage`` and moves on."""
        return self._valid[stage] & self.go if self.plan.elastic else self._valid[stage]

    def present(self, stage: int) -> HardwareValue:
        """High in cycles in which a token is in ``stage``, whether it moves or not."""
        return self._valid[stage]

    def at(self, value: Value, stage: int) -> HardwareValue:
        """The signal of ``value`` at ``stage`` of this level."""
        fixed = self.context.values.fixed(value)
        if fixed is not None:
            return fixed
        born = self._born(value)
        if stage < born:
            raise AssertionError(f"{value.name or 'value'} is used in stage {stage}, before it is there in {born}")
        if (value, stage) not in self._at:
            self._at[value, stage] = self._make(value, born) if stage == born else self._later(value, born, stage)
        return self._at[value, stage]

    def _later(self, value: Value, born: int, stage: int) -> Signal:
        """A signal of the value some stages after it became available; :meth:`elaborate` drives it."""
        name = f"{self.context.names.value(value)}_s{stage}"
        return Signal(len(self.at(value, born)), name=name, reset_less=True)

    def elaborate(self, platform: object) -> Module:
        """Add what delays values from each stage in which they are used to the next one. Called once."""
        stages: dict[Value, list[int]] = {}
        for value, stage in self._at:
            stages.setdefault(value, []).append(stage)
        delay(
            self,
            [
                Delay(self.context.names.value(value), first, self._at[value, first], last, self._at[value, last])
                for value, used in stages.items()
                for first, last in pairwise(sorted(used))
            ],
            self.context.cell,
        )
        return self.m

    def known(self, value: Value) -> int:
        """The first stage of this level in which :meth:`at` has the value."""
        return 0 if self.context.values.fixed(value) is not None else self._born(value)

    def _born(self, value: Value) -> int:
        load = self.context.observations.failed.get(value)
        if load is not None:
            place = self.region.place[load]
            return self._answered(load) if place.level == self.plan.index else 0
        point = self.region.available.get(value, Point(0, 0))
        return point.stage if point.level == self.plan.index else 0

    def _make(self, value: Value, stage: int):
        """The signal of a value at the stage in which it becomes available."""
        load = self.context.observations.failed.get(value)
        if load is not None and self.region.place[load].level == self.plan.index:
            return self.context.servers.ports[load].failed(self, self.region.place[load].stage)
        op = value.op
        if value in self._carried and self._carried[value].read.level == self.plan.index:
            return self._read_carried(value, stage)
        if op is not None and self.region.place.get(op, Point(-1, 0)).level == self.plan.index:
            if op.opcode == "failed":
                return self._failed(op, self.region.place[op].stage)
            if has(op, "pure"):
                return self._compute(op, self.region.place[op].stage)
            if op in self.context.servers.at_once:
                return self.context.servers.at_once[op].place(self.context, self, self.region.place[op].stage)[value]
            if op in self.context.servers.ports:
                return self.context.servers.ports[op].place(self.context, self, self.region.place[op].stage)
        signal = Signal(self.context.values.width(value), name=f"{self.context.names.value(value)}_in")
        self.incoming[value] = signal
        return signal

    def _answered(self, load: Op) -> int:
        """The stage in which the data of a load inside the level is valid."""
        return self.region.place[load].stage + self.context.servers.ports[load].access.latency

    def report_failed_loads(self) -> None:
        """Report loads inside the level that failed; their tokens are not speculative."""
        for op, point in self.region.place.items():
            if point.level == self.plan.index and self.context.servers.may_fail(op) and not is_early(op):
                failed = self.context.servers.ports[op].failed(self, point.stage)
                self.context.observations.read_errors.append((op, self.valid(self._answered(op)) & failed))

    def check_early_loads(self) -> None:
        """Report early loads that failed where the program makes them, and observe those made in vain."""
        observations = self.context.observations
        for op, point in self.region.place.items():
            if op.opcode != "check" or point.level != self.plan.index:
                continue
            loads, checked = self.context.checked[op], op.operands[0]
            wanted, passes = self.at(op.operands[1], point.stage), self.valid(point.stage)
            if checked.op is None or checked.op.opcode != "load":
                strobe = passes & wanted & self.at(checked, point.stage)
                observations.read_errors += [
                    (load, strobe) for load in loads if self.context.servers.may_be_refused(load)
                ]
                continue
            (load,) = loads
            if load in self.errors:
                observations.read_errors.append((load, passes & wanted & self.at(self.errors[load], point.stage)))
            if load in self.context.memory.outside:
                observations.add("vain", load, passes & ~wanted & self.at(predicate(load), point.stage))

    def stepping(self) -> list[Signal]:
        """For each load of the level whose unit may hold it, whether the unit lets it move on; adds the loads."""
        found = []
        for op, point in self.region.place.items():
            if point.level == self.plan.index and op in self.context.servers.stepping:
                self.at(op.result, self._answered(op))
                found.append(self.context.servers.stepping[op].unit.ready)
        return found

    def effects(self) -> None:
        """Build the level's calls, stores and atomic operations that never wait, whether or not their results are
        used."""
        for op, point in self.region.place.items():
            if point.level != self.plan.index:
                continue
            if op in self.context.servers.at_once:
                self.context.servers.at_once[op].place(self.context, self, point.stage)
            if op not in self.context.servers.ports:
                continue
            if op.opcode == "store":
                self.context.servers.ports[op].place(self.context, self, point.stage)
            elif op.opcode == "atomic":
                self.at(op.results[0], self._born(op.results[0]))

    def _compute(self, op: Op, stage: int):
        operands = [self.at(v, stage) for v in op.operands]
        name = self.context.names.value(op.result)
        latency = self.context.latency(op)
        if op in self.context.plan.parts:
            return pipelined_unit(self.m, self.context.plan.parts[op], op, operands, latency, self.go, name)
        signal = Signal(
            self.context.values.width(op.result), name=name, attrs={"keep": 1} if op in self.context.plan.apart else {}
        )
        if op.opcode == "addr":
            self.m.d.comb += signal.eq(self.context.values.base(op) + operands[0])
        elif op.opcode == "given":  # no buffer has address 0
            self.m.d.comb += signal.eq(self.context.values.base(op).any())
        else:
            self.m.d.comb += signal.eq(combinational(op, operands))
        return signal

    def _failed(self, op: Op, stage: int):
        """Whether memory refused the early load: its answer says so, if its memory ever does."""
        load = op.operands[0].defining_op
        return self.at(self.errors[load], stage) if self.context.servers.may_be_refused(load) else C(0)

    def _read_carried(self, arg: Value, stage: int):
        """The initial value for an invocation's first token, the slot's register for the others, or what is written
        there in this cycle."""
        if self._carried[arg].root is not None:
            return self.context.loops.histories[self.region][self._carried[arg].root].read(self, self._carried[arg])
        pseudo, register = self.context.loops.pseudo[self.region], self.context.loops.registers[arg]
        signal = Signal(self.context.values.width(arg), name=self.context.names.value(arg))
        if self.region.slots > 1:
            self.m.d.comb += register.read.slot.eq(self.at(pseudo.slot, stage))
        if register.preset is not None:
            self.m.d.comb += signal.eq(register.read.value)
            return signal
        initial = self.at(self.context.loops.initial(self.region, self._carried[arg].index), stage)
        self.m.d.comb += signal.eq(Mux(self.at(pseudo.first, stage), initial, register.read.value))
        return signal
