"""Uniformity (divergence) analysis: which values are equal for all work-items of a group, or for neighbouring ones; and
which loops neighbours may leave at different times."""

from collections.abc import Callable

from ...diag import Code, CompileError, Diagnostic, Span
from ...ir import Attr, Function, Op, Region, Value, has, is_access, memory_name, reaches_memory, walk
from ...ir.rewrite import constant
from ...narrow import present
from .partial_execution import equal_in_groups, needed_for

__all__ = [
    "check_lanes",
    "lane_distances",
    "lane_values",
    "parting_place",
    "parts",
    "unrepeatable_values",
    "varying_values",
]

_DIFFERENT = frozenset({"local_id", "global_id"})
_LOGIC = frozenset({"and", "or", "xor", "select", "zext", "trunc", "sext"})
#: atomic operations after which the contents of memory depend on their order
_IN_TURN = frozenset({"xchg", "cmpxchg"})


def varying_values(function: Function, equal: set[Value] | frozenset[Value] = frozenset()) -> set[Value]:
    """The values of a flat kernel that may differ within a group; those in ``equal`` are known not to.

    Sources are ids of work-items, results of atomic operations and channel calls, and private arrays; everything
    computed from them varies. A load from a uniform address counts as uniform: a kernel in which it is not has a race.
    """
    return _Varying(function, range(3), equal).run()


def lane_values(function: Function) -> set[Value]:
    """The values of a flat kernel that may differ between work-items of a group that are neighbours in dimension 0.

    As :func:`varying_values`, but ids in other dimensions are equal, and so are exit conditions of loops if the group
    size implies it.
    """
    varying = _Varying(function, range(1)).run()
    loops = [op for op in walk(function.body) if op.opcode == "loop"]
    again = {loop.regions[0].terminator.operands[0] for loop in loops}
    if not again & varying:
        return varying
    equal = equal_in_groups(function, needed_for(function, again | {loop.operands[0] for loop in loops}))
    return _Varying(function, range(1), equal & again).run()


def lane_distances(function: Function) -> dict[Value, int]:
    """By how much a sum of ids in a flat kernel increases to the neighbour in dimension 0; modulo its type."""
    varying = _Varying(function, range(1))
    varying.run()
    return {value: ids[0] for value, ids in varying.distances.items() if ids}


def unrepeatable_values(function: Function) -> set[Value]:
    """The values of a flat kernel that may be different in another run on the same memory: those that depend on the
    order of atomic operations, on channels, and on memory that others write at the same time."""
    return _Unrepeatable(function).run()


class _Spread:
    """Propagates a property of values to everything computed from them."""

    def __init__(self, function: Function) -> None:
        self.function, self.changed = function, True
        self.values: set[Value] = set()

    def run(self) -> set[Value]:
        while self.changed:  # until a fixed point, as loops feed back
            self.changed = False
            self._region(self.function.body, False)
        return self.values

    def _mark(self, values) -> None:
        new = set(values) - self.values
        self.changed |= bool(new)
        self.values |= new

    def _region(self, region: Region, divided: bool) -> None:
        """``divided``: how often the region runs has the property."""
        for op in region.ops:
            if op.opcode == "loop":
                self._loop(op, divided)
            elif self._holds(op):
                self._mark(op.results)

    def _holds(self, op: Op) -> bool:
        raise NotImplementedError

    def _loop(self, op: Op, divided: bool) -> None:
        (body,) = op.regions
        again, *nexts = body.terminator.operands
        divided |= op.operands[0] in self.values or again in self.values
        for arg, result, init, after in zip(body.args, op.results, op.operands[1:], nexts, strict=True):
            if init in self.values or after in self.values:
                self._mark([arg, result])
            if divided:
                self._mark([result])
        self._region(body, divided)


class _Varying(_Spread):
    """Values that differ between work-items whose ids differ in some of the dimensions ``dims``."""

    def __init__(self, function: Function, dims: range, equal: set[Value] | frozenset[Value] = frozenset()) -> None:
        super().__init__(function)
        self.dims, self.equal = dims, equal
        self.size = function.attrs.get(Attr.WORK_GROUP_SIZE)
        #: coefficients of ids, by dimension, in sums of ids and uniform values
        self.distances: dict[Value, dict[int, int]] = {}

    def _mark(self, values) -> None:
        super()._mark(value for value in values if value not in self.equal)

    def _holds(self, op: Op) -> bool:
        if op.results:
            self.distances.pop(op.results[0], None)  # from the previous round
        if op.opcode == "work_item":
            dim = op.attrs.get(Attr.DIM, 0)
            varies = (
                op.attrs[Attr.FN] in _DIFFERENT
                and dim in self.dims
                and not (self.size and self.size[dim] == 1 and op.attrs[Attr.FN] == "local_id")
            )
            self.distances[op.result] = {dim: 1} if varies else {}
            return varies
        if reaches_memory(op) and self.function.memories[memory_name(op)].space == "private":
            return True
        known = has(op, "pure") or is_access(op)
        return not known or any(v in self.values for v in op.operands) and not self._cancels(op)

    def _cancels(self, op: Op) -> bool:
        """Whether ids cancel out of a sum: the rest is uniform, as the group's first global id is."""
        if op.opcode not in ("add", "sub", "mul", "shl", "trunc"):
            return False
        first, *second = (self.distances.get(v) if v in self.values else {} for v in op.operands)
        factor = constant(op.operands[1]) if second else 1
        if first is None or None in second:
            return False
        if op.opcode in ("add", "sub"):
            sign = -1 if op.opcode == "sub" else 1
            found = {d: first.get(d, 0) + sign * present(second[0]).get(d, 0) for d in {*first, *present(second[0])}}
        elif factor is None:
            return False
        else:
            found = {d: factor_of * (1 << factor if op.opcode == "shl" else factor) for d, factor_of in first.items()}
        self.distances[op.result] = {d: f for d, f in found.items() if f % (1 << op.result.type.bits)}
        return not self.distances[op.result]


class _Unrepeatable(_Spread):
    """Results of atomic operations, and loads from memory that these, or others, write in an unpredictable order."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self._memories = {m.name for m in function.memories.values() if m.volatile and m.space == "global"}

    def _holds(self, op: Op) -> bool:
        found = op.opcode == "atomic" or has(op, "channel") or any(v in self.values for v in op.operands)
        if op.opcode == "load":
            return found or memory_name(op) in self._memories
        writes = (
            op.opcode == "store"
            and found
            or op.opcode == "atomic"
            and (op.attrs[Attr.FN] in _IN_TURN or any(v in self.values for v in op.operands))
        )
        if writes and memory_name(op) not in self._memories:
            self._memories.add(memory_name(op))
            self.changed = True
        return found


def parts(loop: Op, varying: set[Value]) -> bool:
    """Whether neighbours may leave the loop at different times, given the ``varying`` values. Not with a barrier
    inside."""
    (body,) = loop.regions
    return body.terminator.operands[0] in varying and not any(inner.opcode == "barrier" for inner in walk(body))


def check_lanes(function: Function, lanes: int, warn: Callable[[Diagnostic], None] | None = None) -> None:
    """``warn`` of loops that ``lanes`` neighbours in a flat kernel may leave at different times. Raise CompileError for
    channel calls, as the program would not determine their order among the lanes; what they print has places."""
    varying = lane_values(function)
    faults = []
    for op in walk(function.body):
        if op.opcode == "loop" and warn and parts(op, varying):
            warn(_parting(op, lanes, varying))
        elif has(op, "channel") and op.attrs[Attr.CHANNEL] != function.attrs.get(Attr.CONSOLE):
            faults.append(
                Diagnostic(
                    f"num_simd_work_items({lanes}): calls on channels by work-items side by side are not yet in "
                    "hardware",
                    op.span,
                    "remove the attribute, or pass several values in one call, as a vector",
                    code=Code.LANES_REFUSED,
                )
            )
    if faults:
        raise CompileError(*dict.fromkeys(faults))


def _parting(loop: Op, lanes: int, varying: set[Value]) -> Diagnostic:
    place = parting_place(loop.regions[0].terminator.operands[0], varying)
    note = Diagnostic("whether it goes on depends on this value, which may differ between them", place, severity="note")
    return Diagnostic(
        f"num_simd_work_items({lanes}): the lanes may leave this loop after different numbers of iterations: lanes "
        "that are done wait for the last one",
        loop.span,
        "if the numbers of iterations differ much, remove the attribute",
        "warning",
        notes=(note,) if place is not None else (),
        code=Code.LANES_DIVERGE,
    )


def parting_place(value: Value, varying: set[Value]) -> Span | None:
    """The source position of a varying condition: of an operand, past the logic that combines conditions."""
    work, seen = [value], set()
    while work:
        value = work.pop(0)
        if value.op is None or value in seen:
            continue
        seen.add(value)
        below = [v for v in value.op.operands if v in varying and v.op is not None]
        if value.op.opcode not in _LOGIC or not below:
            return value.op.span
        work += below
    return None
