"""Which values are the same for all work-items of a group, or for neighbours in it; barriers and loops in which they might part."""

from ..diag import CompileError, Diagnostic, Span
from ..ir import Function, Op, Region, Value, has, is_access, memory_name, reaches_memory, walk

__all__ = ["check_barriers", "check_lanes", "lane_values", "varying_values"]

_DIFFERENT = frozenset({"local_id", "global_id"})
_LOGIC = frozenset({"and", "or", "xor", "select", "zext", "trunc", "sext"})


def varying_values(function: Function) -> set[Value]:
    """The values of a flat kernel that may differ within a group.

    Ids of work-items, what atomic operations and channels give, what private arrays hold, and what is computed from those. What
    is read from memory at one address is taken to be one value: a kernel in which it is not has a race.
    """
    return _Varying(function, range(3)).run()


def lane_values(function: Function) -> set[Value]:
    """The values of a flat kernel that may differ between work-items of a group that are neighbours in dimension 0.

    As :func:`varying_values`, but ids in other dimensions are the same.
    """
    return _Varying(function, range(1)).run()


class _Varying:
    """Values that differ between work-items whose ids differ in some of the dimensions ``dims``."""

    def __init__(self, function: Function, dims: range):
        self.function, self.dims, self.changed = function, dims, True
        self.values: set[Value] = set()
        self.size = function.attrs.get("work_group_size")

    def run(self) -> set[Value]:
        while self.changed:  # loops feed back
            self.changed = False
            self.region(self.function.body, False)
        return self.values

    def _mark(self, values):
        new = set(values) - self.values
        self.changed |= bool(new)
        self.values |= new

    def region(self, region: Region, divided: bool):
        """``divided``: not all work-items of a group run the region as often."""
        for op in region.ops:
            if op.opcode == "loop":
                self._loop(op, divided)
            elif self._varies(op):
                self._mark(op.results)

    def _varies(self, op: Op) -> bool:
        if op.opcode == "work_item":
            dim = op.attrs.get("dim", 0)
            return op.attrs["fn"] in _DIFFERENT and dim in self.dims and not (
                self.size and self.size[dim] == 1 and op.attrs["fn"] == "local_id")
        if reaches_memory(op) and self.function.memories[memory_name(op)].space == "private":
            return True
        known = has(op, "pure") or is_access(op)
        return not known or any(v in self.values for v in op.operands)

    def _loop(self, op: Op, divided: bool):
        (body,) = op.regions
        again, *nexts = body.terminator.operands
        divided |= op.operands[0] in self.values or again in self.values
        for arg, result, init, after in zip(body.args, op.results, op.operands[1:], nexts, strict=True):
            if init in self.values or after in self.values:
                self._mark([arg, result])
            if divided:
                self._mark([result])
        self.region(body, divided)


def check_barriers(function: Function) -> None:
    """Raise CompileError for every barrier of a flat kernel that some work-items of a group may reach and others not."""
    if not any(op.opcode == "barrier" for op in walk(function.body)):
        return
    faults: list[Diagnostic] = []
    _check(function.body, varying_values(function), [], faults)
    if faults:
        raise CompileError(*dict.fromkeys(faults))


def check_lanes(function: Function, lanes: int) -> None:
    """Raise CompileError for what ``lanes`` neighbours cannot do side by side in a flat kernel: leave a loop at different times, and
    call channels, as which of them is first would not be the program's choice."""
    varying = lane_values(function)
    faults = []
    for op in walk(function.body):
        if op.opcode == "loop" and op.regions[0].terminator.operands[0] in varying:
            faults.append(_parting(op, lanes, varying))
        elif has(op, "channel"):
            faults.append(Diagnostic(f"num_simd_work_items({lanes}): calls on channels by work-items side by side are not yet in hardware",
                                     op.span, "take the attribute away, or pass several values in one call, as a vector"))
    if faults:
        raise CompileError(*dict.fromkeys(faults))


def _parting(loop: Op, lanes: int, varying: set[Value]) -> Diagnostic:
    place = _place(loop.regions[0].terminator.operands[0], varying)
    note = Diagnostic("whether it goes on depends on this value, which may differ between them", place, severity="note")
    return Diagnostic(f"num_simd_work_items({lanes}): work-items side by side may leave this loop at different times", loop.span,
                      "let all work-items go round equally often, with an `if` inside for what only some of them do, or take the "
                      "attribute away", notes=(note,) if place is not None else ())


def _check(region: Region, varying: set[Value], around: list[tuple[Value, str, Span | None]], faults: list[Diagnostic]):
    for op in region.ops:
        if op.opcode == "barrier":
            conditions = [*around, *((v, "condition", None) for v in op.operands)]
            wrong = next(((v, what, span) for v, what, span in conditions if v in varying), None)
            if wrong is not None:
                faults.append(_fault(op, *wrong, varying))
        for inner in op.regions:
            controls = [(op.operands[0], "condition", None), (inner.terminator.operands[0], "loop", op.span)]
            _check(inner, varying, [*around, *controls], faults)


def _fault(barrier: Op, value: Value, what: str, span: Span | None, varying: set[Value]) -> Diagnostic:
    place = span or _place(value, varying)
    note = Diagnostic(f"this {what} may differ between them", place, severity="note")
    return Diagnostic("not all work-items of a group may reach this barrier", barrier.span,
                      "put the barrier where all of them come by equally often, and into conditions only what stands between barriers",
                      notes=(note,) if place is not None else ())


def _place(value: Value, varying: set[Value]) -> Span | None:
    """Where a condition that differs is computed: behind the logic that joins conditions."""
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
