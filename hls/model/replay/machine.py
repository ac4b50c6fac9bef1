"""The machine of a planned kernel as a row of numbers, which the engine reads (``sim/model/engine/plan.h``).

The plan is the hardware: points, depths, slots and windows are taken from it as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...analysis.channels.endpoints import answers_at_once, end_of, is_call
from ...ir import Attr, Op, TokenType, Value, walk
from ...ir.launch import PER_UNIT, units_of
from ...planning.memory import Access, HazardPlan
from ...planning.schedule import LevelPlan, Point, RegionPlan, Row, Window
from ...planning.schedule.levels import is_exceptional
from ...target.board import Board
from ..estimate import Planned
from .answers import answers_of
from .groups import MOST_INSIDE, booking_numbers, group_numbers, ring_numbers, whole_numbers
from .refused import refuse
from .units import unit_numbers

__all__ = ["Columns", "MachineText", "channel_latency", "is_timed", "wanted_by"]

#: a queue that is deeper, and holds bits, is a block RAM, whose words are seen a cycle later (rtl_lib/mem/fifo.py)
SHALLOW = 32
LOOP, ACCESS, FENCE, HAZARD, CALL, MEET, MODULE = range(7)  #: kinds of operations


@dataclass(frozen=True)
class Columns:
    """Where the record of a run has what: the number of the kernel's ``top`` and of each loop among the records, the
    first column of each operation in the rows of the loop that it stands in, the number of each call that does not
    block among the ``outcomes``, and that of the compute ``units`` of groups, -1 if the kernel does not ask for
    them."""

    top: int
    loops: dict[Op, int]
    columns: dict[Op, int]
    outcomes: dict[Op, int]
    units: int


@dataclass
class MachineText:
    """``numbers`` for the engine; ``regions`` and ``units`` are what its figures refer to, plans and accesses."""

    numbers: list[int] = field(default_factory=list)
    regions: list[RegionPlan] = field(default_factory=list)
    units: list[Op] = field(default_factory=list)
    fences: list[Op] = field(default_factory=list)  #: of barriers, too
    meets: list[Op] = field(default_factory=list)
    hazards: list[Op] = field(default_factory=list)
    calls: list[Op] = field(default_factory=list)
    modules: list[Op] = field(default_factory=list)  #: of libraries, which wait

    @classmethod
    def of(
        cls,
        planned: Planned,
        board: Board,
        columns: Columns,
        addresses: Mapping[str, int],
        channels: Sequence[tuple[str, int]] = (),
        constant_bytes: int = 0,
        overlap: bool = False,
    ) -> "MachineText":
        """The machine of a kernel on a board; ``addresses`` are those of the buffers by name, ``channels`` the names
        and indices of all, ``constant_bytes`` the size of the constant cache. ``overlap``: in a run in which buffers
        share bytes. Raises NotReplayed."""
        return _Writer(planned, board, columns, addresses, channels, constant_bytes, overlap).write()


def rows_of(planned: Planned, overlap: bool) -> Iterator[Row]:
    """The operations between levels that take part in runs whose buffers ``overlap``, or do not."""
    for region in (planned.plan.top, *planned.plan.loops.values()):
        for level in region.levels:
            yield from (row for row in level.row if overlap or not is_exceptional(row.op))


def wanted_by(planned: Planned) -> list[Op]:
    """The operations of which a run must record what they do."""
    watched = [store for hazard in planned.memory.hazards.values() for store in hazard.stores]
    groups = [op for op in walk(planned.function.body) if op.opcode == "group"]
    rows = (row.op for row in rows_of(planned, overlap=True))
    return [*rows, *watched, *groups, *held_by(planned), *in_passing(planned)]


def in_passing(planned: Planned) -> list[Op]:
    """The calls inside levels, in program order."""
    return [op for op in walk(planned.function.body) if is_call(op) and answers_at_once(op)]


def is_timed(planned: Planned) -> bool:
    """Whether what a kernel does depends on the cycle."""
    if any(name.startswith(PER_UNIT) for name in planned.function.attrs.get(Attr.LAUNCH_ARGS, ())):
        return True
    return any(is_call(op) and not op.attrs[Attr.BLOCKING] for op in walk(planned.function.body))


def held_by(planned: Planned) -> list[Op]:
    """The loads inside levels that may hold them."""
    return [op for op in planned.memory.outside if planned.memory.holds_pipeline(op)]


class _Writer:
    def __init__(
        self,
        planned: Planned,
        board: Board,
        columns: Columns,
        addresses: Mapping[str, int],
        channels: Sequence[tuple[str, int]],
        constant_bytes: int,
        overlap: bool,
    ) -> None:
        self.board, self.constant_bytes, self.overlap = board, constant_bytes, overlap
        self.planned, self.columns, self.addresses = planned, columns, addresses
        self.channels = list(channels)
        self.used = {value for op in walk(planned.function.body) for value in op.operands}
        self.text = MachineText(regions=[planned.plan.top, *planned.plan.loops.values()])

    def write(self) -> MachineText:
        self.rows = rows = [row.op for row in rows_of(self.planned, self.overlap)]
        self.text.units = [op for op in rows if op in self.planned.memory.outside]
        self.text.units += held_by(self.planned)
        self.text.meets = [op for op in rows if op.opcode == "meet"]
        order = {op: k for k, op in enumerate(walk(self.planned.function.body))}
        fenced = [op for op in self.text.meets if self._stores(op)]
        self.text.fences = sorted((op for op in rows if op.opcode == "fence"), key=order.__getitem__)
        self.text.fences += sorted(fenced, key=order.__getitem__)  # stores serve them in this order
        self.text.hazards = [op for op in rows if op.opcode == "hazard"]
        self.text.calls = [op for op in rows if is_call(op)]
        self.text.modules = [op for op in rows if op.opcode == "rtl_wait"]
        units = [self._unit(self.planned.memory.accesses[op]) for op in self.text.units]
        hazards = [self._hazard(op) for op in self.text.hazards]
        regions = [self._region(region) for region in self.text.regions]
        fences = [self._fence(op) for op in self.text.fences]
        calls = self._calls()
        meets = [[self.text.fences.index(op) if op in self.text.fences else -1] for op in self.text.meets]
        modules = [[op.attrs[Attr.RTL_LATENCY], op.attrs[Attr.RTL_WAITS]] for op in self.text.modules]
        bookings = booking_numbers(self.planned.plan, self.text.regions)
        parts = (units, fences, hazards, calls, self._passing(), meets, modules, bookings, regions)
        self.text.numbers = group_numbers(self.planned, self.text.regions, self.columns.units)
        self.text.numbers += [number for part in parts for number in _listed(part)]
        return self.text

    def _stores(self, op: Op) -> list[int]:
        """The units whose stores a fence, or a barrier, waits for."""
        accesses = [self.planned.memory.accesses[one] for one in self.text.units]
        return [k for k, a in enumerate(accesses) if a.direction != "load" and a.memory in op.attrs[Attr.MEMS]]

    def _fence(self, op: Op) -> list[int]:
        accesses = [self.planned.memory.accesses[one] for one in self.text.units]
        stores = self._stores(op)
        loads = [k for k, a in enumerate(accesses) if a.direction != "store" and a.memory in op.attrs[Attr.FLUSH]]
        if not stores:
            raise refuse(op)
        return [self.planned.memory.fences_under_way, *_listed(stores), *_listed(loads)]

    def _calls(self) -> list[list[int]]:
        groups: dict[tuple[object, ...], int] = {}
        numbers = []
        for op in self.text.calls:
            end = end_of(op)
            region = next(k for k, one in enumerate(self.text.regions) if op in one.place)
            group = groups.setdefault((end, region, op.attrs.get(Attr.PHASE, 0)), len(groups))
            channel = self.channels.index((end.channel, end.index))
            answers = bool(op.results) if end.writes else True
            flushed = op.attrs.get(Attr.FLUSH, ())
            accesses = [self.planned.memory.accesses[one] for one in self.text.units]
            loads = [k for k, one in enumerate(accesses) if one.direction == "load" and one.memory in flushed]
            turn = op.attrs.get(Attr.TURN, 0)
            outcomes = self.columns.outcomes.get(op, -1)
            numbers.append([channel, int(end.writes), int(answers), group, turn, outcomes, *_listed(loads)])
        return numbers

    def _passing(self) -> list[list[int]]:
        numbers = []
        for op in in_passing(self.planned):
            end = end_of(op)
            region = next(k for k, one in enumerate(self.text.regions) if op in one.place)
            point, channel = self.text.regions[region].place[op], self.channels.index((end.channel, end.index))
            place = [region, *_point(point), self.columns.columns[op], self.columns.outcomes[op]]
            numbers.append([channel, int(end.writes), *place])
        return numbers

    def _hazard(self, op: Op) -> list[int]:
        plan = self.planned.memory.hazards[op]
        asks = [sum(1 << k for k in wanted) for wanted in op.attrs[Attr.ASKS]]
        places = op.operands[: 2 * (len(asks) + len(plan.stores)) : 2]
        bases = [0 if Attr.UNTIL_PUSHED in op.attrs else self.addresses.get(_memory_of(place), 0) for place in places]
        stores = [self._watched(op, plan, k) for k in range(len(plan.stores))]
        head = [int(Attr.FINDS in op.attrs), self.columns.columns[op], plan.inside]
        loads = [self.text.units.index(load) for load in plan.loads if load in self.text.units]
        answers = [
            [*_listed(one.loads), *_listed(one.slots)] for one in answers_of(op, self.rows, self.columns.columns)
        ]
        return [*head, *_listed(asks), *_listed(bases), *_listed(stores), *_listed(loads), *_listed(answers)]

    def _watched(self, op: Op, plan: HazardPlan, number: int) -> list[int]:
        store, on_chip = plan.stores[number], Attr.UNTIL_PUSHED in op.attrs
        port = self.planned.memory.accesses[store].latency is not None
        region = next(k for k, one in enumerate(self.text.regions) if store in one.place)
        point = self.text.regions[region].place[store]
        return [
            plan.entries[number],
            plan.per_word[number],
            int(plan.certain[number]),
            int(port),
            int(on_chip),
            -1 if port or on_chip else self.text.units.index(store),
            region,
            *_point(point),
            self.columns.columns[store],
        ]

    def _unit(self, access: Access) -> list[int]:
        memory = self.board.memory_named(access.location)
        return unit_numbers(access, self.constant_bytes, 0 if memory is None else memory.read_latency)

    def _region(self, plan: RegionPlan) -> list[int]:
        record = self.columns.top if plan.loop is None else self.columns.loops[plan.loop]
        by_group = plan.loop is None and units_of(self.planned.function) > 1
        results = plan.loop is not None and any(r in self.used and self._travels(r) for r in plan.loop.results)
        return [
            record,
            *(([MOST_INSIDE] * 2) if by_group else [plan.slots, plan.entries]),
            int(plan.speculative),
            int(self.overlap and plan.loop is not None and bool(plan.loop.attrs.get(Attr.APART_IF_OVERLAP))),
            _latency(plan.entries, results) if plan.slots == 1 else 1,
            *_point(plan.decide),
            *_point(plan.again_overlap if self.overlap else plan.again),
            plan.again_overlap_delay if self.overlap else plan.again_delay,
            *ring_numbers(plan, _latency),
            *_listed([self._level(plan, level) for level in plan.levels]),
        ]

    def _level(self, plan: RegionPlan, level: LevelPlan) -> list[int]:
        last, single = level is plan.levels[-1], plan.loop is None and units_of(self.planned.function) == 1
        windows = [w for w in dict.fromkeys(level.windows) if self.overlap or not w.overlap]
        return [
            level.depth,
            int(level.elastic),
            0 if last else level.bypass_depth,
            _latency(level.bypass_depth, True),
            *_point(level.ready_overlap if self.overlap else level.ready),
            1 if single else level.spacing,
            *whole_numbers(level),
            *_listed([[*_window(plan, level, one), self._group(one)] for one in windows]),
            *_listed([self._operation(row) for row in level.row if self.overlap or not is_exceptional(row.op)]),
            *_listed(
                [
                    self._held(plan, op)
                    for op in held_by(self.planned)
                    if op in plan.place and plan.place[op].level == level.index
                ]
            ),
        ]

    def _held(self, plan: RegionPlan, op: Op) -> list[int]:
        return [plan.place[op].stage, self.columns.columns[op], self.text.units.index(op)]

    def _group(self, window: Window) -> int:
        """Of a window of groups the column that says whether a token is the first of its group; behind it stands
        whether it is the last. Else -1."""
        return -1 if window.group is None else self.columns.columns[window.group]

    def _operation(self, row: Row) -> list[int]:
        op, payload, always = row.op, True, False
        if op.opcode == "loop":
            child = self.planned.plan.loops[op]
            payload = bool(child.invariants) or any(self._travels(v) for v in op.operands[1:])
            kind, number = LOOP, self.text.regions.index(child)
        elif op in self.text.meets:
            kind, number = MEET, self.text.meets.index(op)
        elif op in self.text.fences:
            kind, number = FENCE, self.text.fences.index(op)
        elif op in self.text.hazards:
            kind, number, always = HAZARD, self.text.hazards.index(op), True
        elif op in self.text.calls:
            kind, number, always = CALL, self.text.calls.index(op), Attr.TURN in op.attrs
        elif op in self.text.modules:
            kind, number, always = MODULE, self.text.modules.index(op), True
        elif op in self.planned.memory.outside:
            kind, number = ACCESS, self.text.units.index(op)
        else:
            raise refuse(op)
        column = 0 if kind == MODULE else self.columns.columns[op]
        latency = _latency(row.request_depth, payload)
        return [kind, row.push, row.request_depth, latency, int(row.joins), int(always), column, number]

    def _travels(self, value: Value) -> bool:
        """Whether a value takes bits in a request or a result: a token, a constant, an argument does not."""
        fixed = value.op is not None and (value.op.opcode == "const" or value.op in self.planned.plan.static)
        return not fixed and not isinstance(value.type, TokenType) and value not in self.planned.function.args


def _window(plan: RegionPlan, level: LevelPlan, window: Window) -> list[int]:
    decides = plan.decide.level if plan.speculative else 0
    dropped_inside = not window.undecided and level.index < decides <= window.until.level
    ahead = -1 if window.ahead is None else window.ahead
    return [*_point(window.until), window.most, int(window.undecided), int(window.between), int(dropped_inside), ahead]


def _memory_of(pointer: Value) -> str:
    """The memory that an address of a flat kernel lies in."""
    op = pointer.defining_op
    return str(op.attrs[Attr.MEM]) if op.opcode == "addr" else ""


def _point(point: Point | None) -> tuple[int, int]:
    return (-1, 0) if point is None else (point.level, point.stage)


def _latency(depth: int, payload: bool) -> int:
    return 2 if depth > SHALLOW and payload else 1


def channel_latency(depth: int) -> int:
    """Cycles from a write to a channel of that depth to the read of the value."""
    return _latency(depth, True)


def _listed(parts: Sequence[int | list[int]]) -> list[int]:
    return [len(parts), *(number for part in parts for number in (part if isinstance(part, list) else [part]))]
