"""Loop idiom recognition: a loop that shifts or fills an array becomes one operation, whatever its length."""

from collections.abc import Callable
from dataclasses import dataclass

from ...analysis.induction.trip_count import count_trips, value_where
from ...analysis.loops.loop_tree import step_of
from ...diag import Span
from ...ir import Attr, Builder, Function, MemoryObject, Op, PointerType, Value, has, uses, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, is_constant, literal, rewrite
from ...ir.values import signed
from ...limits import MOST_ARRAY_BYTES
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["MOST_ELEMENTS", "RecognizeShiftIdiom"]

#: most elements of an array that is recognized as a shift register: those of the largest array on the chip
MOST_ELEMENTS = MOST_ARRAY_BYTES


@dataclass(frozen=True)
class RecognizeShiftIdiom(FunctionPass):
    """Loop idiom recognition (LLVM: LoopIdiomRecognize) of shifts and fills. Before: SSA with `if`, arrays in private
    memories. After: a loop that only moves elements of a private array, ``x[k] = x[k - by]`` for constant bounds and in
    the order that reads each before it is overwritten, is one ``shift``; elements may be vectors or structures, and
    several may move in an iteration. A loop that only sets elements of such an array to one value is a ``fill``. Loops
    with `unroll 1` stay.

    ``record`` is told of each shift: (kernel, source position, elements moved, whether a pragma requests it).
    """

    record: Callable[[str, Span | None, int, bool], None] | None = None
    name = "recognize-shift-idiom"
    requires = frozenset({Form.POINTERS_LOWERED})
    forbids = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy with ``shift`` and ``fill`` instead of loops that move elements; the function itself if it has no
        loop."""
        if not any(op.opcode == "loop" for op in walk(function.body)):
            return function
        result = clone_function(function)
        used = uses(result.body)
        rewrite(result.body, lambda op, b: self._shift(op, b, result, used))
        shifted = {op.attrs[Attr.MEM] for op in walk(result.body) if op.opcode == "shift"}
        if shifted:
            rewrite(result.body, lambda op, b: _fill(op, b, result, shifted, used))
        return result

    def _shift(self, op: Op, b: Builder, function: Function, used) -> list[Value] | None:
        moves = _Moves.of(op, function, used) if op.opcode == "loop" else None
        if moves is None or moves.read is None:
            return None
        written, read = moves.written, moves.read
        by = written.first - read.first
        if by == 0 or by % written.step or (by > 0) == (written.step > 0):
            return None
        ends = [line.span(moves.trips) for line in (written, read)]
        if self.record is not None:
            self.record(function.name, op.span, moves.trips, op.attrs.get(Attr.UNROLL, 0) != 0)
        b.op(
            "shift",
            attrs={
                Attr.MEM: moves.memory.name,
                Attr.BY: by,
                Attr.LOW: min(low for low, _ in ends),
                Attr.HIGH: max(high for _, high in ends),
                **_asked(op),
            },
        )
        return moves.results(b)


def _fill(op: Op, b: Builder, function: Function, shifted: set[str], used) -> list[Value] | None:
    moves = _Moves.of(op, function, used) if op.opcode == "loop" else None
    if moves is None or moves.read is not None or moves.memory.name not in shifted:
        return None
    (low, high), value = moves.written.span(moves.trips), moves.value
    value = b.const(literal(present(value)), present(value).type) if is_constant(present(value)) else value
    b.op("fill", present(value), attrs={Attr.MEM: moves.memory.name, Attr.LOW: low, Attr.HIGH: high, **_asked(op)})
    return moves.results(b)


def _asked(loop: Op) -> dict[str, object]:
    """What a pragma asks for: without one, an array that is no shift register after all is moved by a loop."""
    return {Attr.UNROLL: loop.attrs[Attr.UNROLL]} if loop.attrs.get(Attr.UNROLL) else {}


@dataclass(frozen=True)
class _Line:
    """``|step|`` neighbouring elements from ``first`` up, as many from ``first + step`` up, ... in each iteration."""

    first: int
    step: int

    def span(self, trips: int) -> tuple[int, int]:
        """The elements touched: the first, and the one after the last."""
        last = self.first + self.step * (trips - 1)
        return min(self.first, last), max(self.first, last) + abs(self.step)


@dataclass(frozen=True)
class _Moves:
    """A loop that in each of ``trips`` iterations stores one element of a private array, or the few neighbouring ones
    of a vector: those of the line ``read``, or (None) the loop-invariant ``value``. ``ends`` are the final values of
    its counters."""

    memory: MemoryObject
    trips: int
    written: _Line
    read: _Line | None
    value: Value | None
    ends: tuple

    @classmethod
    def of(cls, loop: Op, function: Function, used) -> "_Moves | None":
        stores, loads = _accesses(loop)
        memory = _array(stores[0], function) if stores else None
        if memory is None or loop.attrs.get(Attr.UNROLL) == 1 or constant(loop.operands[0]) != 1:
            return None
        if any(_array(access, function) is not memory for access in (*stores, *loads)):
            return None
        value = stores[0].operands[1]
        if not (_pairs(stores, loads, used) if loads else _is_outside(value, loop) and _all_store(stores, value)):
            return None
        states = _counters(loop)
        trips = count_trips(loop, MOST_ELEMENTS) if states is not None else None
        if trips is None or not trips.exact or trips.count < 2:
            return None
        written = _joined([_line(store, states, trips.count, memory) for store in stores])
        read = (
            _joined([_line(store.operands[1].defining_op, states, trips.count, memory) for store in stores])
            if loads
            else None
        )
        if written is None or loads and (read is None or read.step != written.step):
            return None
        return cls(memory, trips.count, written, read, value, tuple(states(trips.count).values()))

    def results(self, b: Builder) -> list[Value]:
        return [b.const(end, arg.type) for arg, end in self.ends]


def _accesses(loop: Op) -> tuple[list[Op], list[Op]]:
    """(the stores, the loads) of a loop that does nothing else, loads first; ([], []) otherwise."""
    body = loop.regions[0].ops[:-1]
    rest = [op for op in body if not has(op, "pure")]
    stores, loads = ([op for op in rest if op.opcode == kind] for kind in ("store", "load"))
    if rest != loads + stores or len(loads) not in (0, len(stores)):
        return [], []
    return stores, loads


def _array(access: Op, function: Function) -> MemoryObject | None:
    """The private array that the access addresses, if the access moves one element unconditionally."""
    address = access.operands[0].op
    if address is None or address.opcode != "addr" or constant(access.operands[-1]) != 1:
        return None
    memory, type = (
        function.memories[address.attrs[Attr.MEM]],
        (access.result if access.opcode == "load" else access.operands[1]).type,
    )
    plain = (
        memory.space == "private"
        and type == memory.element
        and not isinstance(type, PointerType)
        and not memory.volatile
    )
    return memory if plain and 2 <= memory.elements <= MOST_ELEMENTS else None


def _pairs(stores: list[Op], loads: list[Op], used) -> bool:
    """Whether each store stores the result of one of the loads, which has no other user."""
    moved = [store.operands[1].op for store in stores]
    return set(moved) == set(loads) and all(user in stores for load in loads for user, _ in used[load.result])


def _all_store(stores: list[Op], value: Value) -> bool:
    return all(
        store.operands[1] is value
        or is_constant(value)
        and is_constant(store.operands[1])
        and literal(store.operands[1]) == literal(value)
        for store in stores
    )


def _joined(lines: list[_Line | None]) -> _Line | None:
    """The line of neighbouring elements that are accessed together: in the same order by all accesses, and without a
    gap."""
    if (
        None in lines
        or {present(line).step for line in lines} != {present(lines[0]).step}
        or abs(present(lines[0]).step) != len(lines)
    ):
        return None
    firsts = [present(line).first for line in lines]
    return lines[0] if firsts == list(range(firsts[0], firsts[0] + len(lines))) else None


def _is_outside(value: Value, loop: Op) -> bool:
    """Whether the value is loop-invariant and available before the loop."""
    (body,) = loop.regions
    return is_constant(value) or value.owner is not body and (value.op is None or value.op not in body.ops)


def _counters(loop: Op):
    """A function from an iteration number to the value of each loop argument; None unless every carried value counts
    from a constant in constant steps."""
    (body,) = loop.regions
    steps = {}
    for arg, init, after in zip(body.args, loop.operands[1:], body.terminator.operands[1:], strict=True):
        step = step_of(arg, after)
        if step is None or constant(init) is None:
            return None
        steps[arg] = constant(init), step
    return lambda k: {arg: (arg, init + k * step & (1 << arg.type.bits) - 1) for arg, (init, step) in steps.items()}


def _line(access: Op, states, trips: int, memory: MemoryObject) -> _Line | None:
    """The elements that the access touches; None unless they form one line inside the array."""
    (offset,) = access.operands[0].defining_op.operands
    places = []
    for k in (0, 1, trips - 1):
        place = value_where(offset, dict(states(k).values()))
        if place is None:
            return None
        places.append(signed(place, offset.type.bits))
    first, second, last = places
    size, linear = memory.element.bytes, last - first == (trips - 1) * (second - first)
    inside = all(0 <= place <= (memory.elements - 1) * size and place % size == 0 for place in places)
    return _Line(first // size, (second - first) // size) if linear and inside and _is_sum(offset) else None


def _is_sum(value: Value) -> bool:
    """Whether a value is a sum of multiples of counters, so that it is linear as long as it does not wrap."""
    work = [value]
    while work:
        op = work.pop().op
        if op is None or op.opcode == "const":
            continue
        if op.opcode not in ("add", "sub", "mul", "shl", "sext", "zext", "trunc"):
            return False
        if op.opcode in ("mul", "shl") and constant(op.operands[1]) is None:
            return False
        work += op.operands
    return True
