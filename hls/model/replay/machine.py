"""The machine of a planned kernel as a row of numbers, which the engine reads (``sim/model/engine/plan.h``).

The plan is the hardware: points, depths, slots and windows are taken from it as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...ir import Op, TokenType, Value
from ...planning.schedule import LevelPlan, Point, RegionPlan, Row, Window
from ...planning.schedule.levels import is_exceptional
from ..estimate import Planned
from .refused import check_kernel, check_region, refuse
from .units import unit_numbers

__all__ = ["Columns", "MachineText", "wanted_by"]

#: a queue that is deeper, and holds bits, is a block RAM, whose words are seen a cycle later (rtl_lib/mem/fifo.py)
SHALLOW = 32
LOOP, ACCESS, FENCE, HAZARD = range(4)


@dataclass(frozen=True)
class Columns:
    """Where the record of a run has what: the number of the kernel's ``top`` and of each loop among the records, and the
    first column of each operation in the rows of the loop that it stands in."""

    top: int
    loops: dict[Op, int]
    columns: dict[Op, int]


@dataclass
class MachineText:
    """``numbers`` for the engine; ``regions`` and ``units`` are the plans and the accesses that its figures refer to."""

    numbers: list[int] = field(default_factory=list)
    regions: list[RegionPlan] = field(default_factory=list)
    units: list[Op] = field(default_factory=list)

    @classmethod
    def of(cls, planned: Planned, columns: Columns) -> "MachineText":
        """The machine of a kernel in runs whose buffers do not overlap. Raises NotReplayed."""
        check_kernel(planned)
        return _Writer(planned, columns).write()


def rows_of(planned: Planned) -> Iterator[Row]:
    """The operations between levels that take part in runs whose buffers do not overlap."""
    for region in (planned.plan.top, *planned.plan.loops.values()):
        for level in region.levels:
            yield from (row for row in level.row if not is_exceptional(row.op))


def wanted_by(planned: Planned) -> list[Op]:
    """The operations of which a run must record what they do."""
    return [row.op for row in rows_of(planned)]


class _Writer:
    def __init__(self, planned: Planned, columns: Columns) -> None:
        self.planned, self.columns = planned, columns
        self.text = MachineText(regions=[planned.plan.top, *planned.plan.loops.values()])

    def write(self) -> MachineText:
        rows = [row.op for row in rows_of(self.planned)]
        self.text.units = [op for op in rows if op in self.planned.memory.outside]
        units = [unit_numbers(self.planned.memory.accesses[op]) for op in self.text.units]
        regions = [self._region(region) for region in self.text.regions]
        self.text.numbers = [*_listed(units), *_listed(regions)]
        return self.text

    def _region(self, plan: RegionPlan) -> list[int]:
        check_region(plan)
        record = self.columns.top if plan.loop is None else self.columns.loops[plan.loop]
        results = plan.loop is not None and any(self._travels(r) for r in plan.loop.results)
        return [
            record,
            plan.slots,
            plan.entries,
            int(plan.speculative),
            _latency(plan.entries, results) if plan.slots == 1 else 1,
            *_point(plan.decide),
            *_point(plan.again),
            plan.again_delay,
            *_listed([self._level(plan, level) for level in plan.levels]),
        ]

    def _level(self, plan: RegionPlan, level: LevelPlan) -> list[int]:
        last, top = level is plan.levels[-1], plan.loop is None
        windows = [w for w in dict.fromkeys(level.windows) if not w.overlap]
        return [
            level.depth,
            int(level.elastic),
            0 if last else level.bypass_depth,
            _latency(level.bypass_depth, True),
            *_point(level.ready),
            1 if top else level.spacing,
            *_listed([_window(plan, level, window) for window in windows]),
            *_listed([self._operation(row) for row in level.row if not is_exceptional(row.op)]),
        ]

    def _operation(self, row: Row) -> list[int]:
        op, payload = row.op, True
        if op.opcode == "loop":
            child = self.planned.plan.loops[op]
            payload = bool(child.invariants) or any(self._travels(v) for v in op.operands[1:])
            kind, number = LOOP, self.text.regions.index(child)
        elif op in self.planned.memory.outside and op.opcode != "atomic":
            kind, number = ACCESS, self.text.units.index(op)
        else:
            raise refuse(op)
        column = self.columns.columns[op]
        return [kind, row.push, row.request_depth, _latency(row.request_depth, payload), int(row.joins), column, number]

    def _travels(self, value: Value) -> bool:
        """Whether a value takes bits in a request or a result: a token, a constant, an argument does not."""
        fixed = value.op is not None and (value.op.opcode == "const" or value.op in self.planned.plan.static)
        return not fixed and not isinstance(value.type, TokenType) and value not in self.planned.function.args


def _window(plan: RegionPlan, level: LevelPlan, window: Window) -> list[int]:
    decides = plan.decide.level if plan.speculative else 0
    dropped_inside = not window.undecided and level.index < decides <= window.until.level
    ahead = -1 if window.ahead is None else window.ahead
    return [*_point(window.until), window.most, int(window.undecided), int(window.between), int(dropped_inside), ahead]


def _point(point: Point | None) -> tuple[int, int]:
    return (-1, 0) if point is None else (point.level, point.stage)


def _latency(depth: int, payload: bool) -> int:
    return 2 if depth > SHALLOW and payload else 1


def _listed(parts: list[list[int]]) -> list[int]:
    return [len(parts), *(number for part in parts for number in part)]
