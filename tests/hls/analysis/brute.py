"""Dependences by brute force: run a kernel, record every access, compare all pairs."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hls.ir import OPS, ArrayType, Function, Op, Region, Value, evaluate, lane_mask, moved_type, predicate

__all__ = ["Event", "conflicts", "pairs", "trace"]


@dataclass(frozen=True)
class Event:
    """One access: which, in which iterations of the loops around it (outermost first), and the bytes it touches. Also the
    ``number`` of the innermost loop's iteration among those of all its invocations, and how many iterations the
    invocation ``before`` had."""

    op: Op
    loops: tuple[tuple[Op, int], ...]
    memory: str
    first: int
    size: int
    number: int = 0
    before: int = 0


def trace(
    function: Function, arguments: list[int], memory: dict[str, dict[int, int]], address_bits: int
) -> list[Event]:
    """Every access of a flat kernel in program order; a memory maps offsets to bytes, 0 where it has none."""
    tracer = _Tracer(memory, 1 << address_bits)
    tracer.region(function.body, dict(zip(function.args, arguments, strict=True)), ())
    return tracer.events


class _Tracer:
    def __init__(self, memory, space):
        self.memory, self.space, self.events = memory, space, []
        self.begins: dict[Op, list[int]] = {}  #: the number of the first iteration of each invocation of a loop
        self.numbers: dict[Op, int] = {}  #: how many iterations of a loop there have been

    def region(self, region: Region, values: dict[Value, int], loops):
        for op in region.ops[:-1]:
            getattr(self, f"_on_{op.opcode}", self._pure)(op, values, loops)
        return [values[v] for v in region.terminator.operands]

    def _pure(self, op, values, loops):
        if op.opcode == "const":
            values[op.result] = op.attrs["value"]
            return
        assert OPS[op.opcode].meaning, op.opcode
        types = [v.type for v in op.operands]
        values[op.result] = evaluate(op.opcode, [values[v] for v in op.operands], types, op.result.type, op.attrs)

    def _on_addr(self, op, values, loops):
        values[op.result] = (op.attrs["mem"], values[op.operands[0]])

    def _access(self, op, pointer, size, loops):
        name, offset = pointer
        number, begins = (self.numbers[loops[-1][0]] - 1, self.begins[loops[-1][0]]) if loops else (0, [0])
        before = begins[-1] - begins[-2] if len(begins) > 1 else 0
        self.events.append(Event(op, loops, name, offset % self.space, size, number, before))
        return self.memory[name], range(offset % self.space, offset % self.space + size)

    def _on_load(self, op, values, loops):
        type = moved_type(op)
        parts = [self._load(op, place, size, on, loops) for place, size, on in self._lanes(op, values)]
        values[op.result] = tuple(parts) if isinstance(type, ArrayType) else parts[0]

    def _load(self, op, place, size, on, loops):
        if not on:
            return 0
        memory, places = self._access(op, place, size, loops)
        return int.from_bytes(bytes(memory.get(at, 0) for at in places), "little")

    def _on_store(self, op, values, loops):
        value = values[op.operands[1]]
        parts = value if isinstance(moved_type(op), ArrayType) else [value]
        for part, (place, size, on) in zip(parts, self._lanes(op, values), strict=True):
            if on:
                memory, places = self._access(op, place, size, loops)
                memory.update(zip(places, part.to_bytes(size, "little"), strict=True))

    def _lanes(self, op, values):
        """(place, bytes, whether it is touched) of each lane of an access."""
        type, on, (name, offset) = moved_type(op), values[predicate(op)], values[op.operands[0]]
        if not isinstance(type, ArrayType):
            return [((name, offset), type.bytes, on)]
        size = type.element.bytes
        return [((name, offset + k * size), size, on and lane) for k, lane in enumerate(values[lane_mask(op)])]

    def _on_loop(self, op, values, loops):
        enable, *state = (values[v] for v in op.operands)
        (body,) = op.regions
        count = 0
        if enable:
            self.begins.setdefault(op, []).append(self.numbers.setdefault(op, 0))
        while enable:
            self.numbers[op] += 1
            values.update(zip(body.args, state, strict=True))
            enable, *state = self.region(body, values, (*loops, (op, count)))
            count += 1
        values.update(zip(op.results, state, strict=True))


def conflicts(events: list[Event]) -> dict[tuple[Op, Op, Op | None], int]:
    """For every (src, dst, loop that carries or None) that conflicts: the least distance (0 without a loop).

    Orders among work-items (loops with the attribute ``parallel``) are left out.
    """
    found: dict = {}
    for earlier, later in pairs(events):
        _note(found, earlier, later)
    return found


def pairs(events: list[Event]) -> Iterator[tuple[Event, Event]]:
    """Every two accesses to the same byte of which one stores, for each such byte."""
    touched = defaultdict(list)
    for later in events:
        for byte in range(later.first, later.first + later.size):
            for earlier in touched[later.memory, byte]:
                if "store" in (earlier.op.opcode, later.op.opcode):
                    yield earlier, later
            touched[later.memory, byte].append(later)


def _note(found, earlier: Event, later: Event):
    for (loop, k), (other, n) in zip(earlier.loops, later.loops):
        if loop is not other:
            break
        if k != n:
            if not loop.attrs.get("parallel"):
                key = earlier.op, later.op, loop
                found[key] = min(n - k, found.get(key, n - k))
            return
    found[earlier.op, later.op, None] = 0
