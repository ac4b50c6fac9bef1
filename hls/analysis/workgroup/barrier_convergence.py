"""Barrier convergence: proven, refuted, or the responsibility of the program."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...diag import Code, CompileError, Diagnostic, Span
from ...ir import Attr, Function, Op, Region, Value, walk
from ...ir.launch import most_work_items
from ..channels.endpoints import is_call
from .partial_execution import PartialExecution, equal_in_groups, local_ids, needed_for
from .uniformity import parting_place, unrepeatable_values, varying_values

__all__ = ["check_barriers"]

#: groups in dimension 0 that are tried, besides the first two: those around constants of the kernel in the global range
MOST_GROUPS = 8
_HINT = (
    "put the barrier where all of them reach it equally often, and move only the code between barriers into conditions"
)
_KNOWN = (
    "it is known where conditions are made of constants, scalar arguments, get_group_id and get_local_size: count a "
    "loop from what is the "
    "same for all and add the id inside, compare get_global_id(0) - get_local_id(0), or give the kernel a "
    "reqd_work_group_size"
)


@dataclass(frozen=True)
class _Condition:
    """A condition under which a barrier is reached; for a ``loop``, its continue condition."""

    value: Value
    what: str = "condition"
    span: Span | None = None


def check_barriers(function: Function, warn: Callable[[Diagnostic], None] | None = None) -> bool:
    """Whether convergence of some barrier of a flat kernel is unknown, and thus the responsibility of the program;
    ``warn`` is told of each.

    Raises CompileError for every barrier that, by ids and constants, some work-items of a group reach and others do
    not, or whose convergence a run on the same memory could not verify.
    """
    barriers = list(_barriers(function.body, []))
    varying = varying_values(function)
    if not any(c.value in varying for _, around in barriers for c in around):
        return False
    check = _Check(function, {c.value for _, around in barriers for c in around if c.value in varying})
    for barrier, around in barriers:
        check.barrier(barrier, around)
    if check.faults:
        raise CompileError(*dict.fromkeys(check.faults))
    for condition, promised in check.promises.items():
        if warn is not None:
            warn(_promise(list(dict.fromkeys(promised)), condition))
    return bool(check.promises)


def _promise(barriers: list[Span | None], condition: Diagnostic | None) -> Diagnostic:
    """The warning for barriers that depend on the same condition."""
    others = f"this barrier, and {len(barriers) - 1} more, rest" if len(barriers) > 1 else "this barrier rests"
    return Diagnostic(
        f"{others} on an assumption: all work-items of a group reach it, or none; a launch that violates this ends "
        "with an error",
        barriers[0],
        _KNOWN,
        "warning",
        notes=(condition,) if condition is not None else (),
        code=Code.CONVERGENCE_ASSUMED,
    )


def _barriers(region: Region, around: list[_Condition]) -> Iterator[tuple[Op, list[_Condition]]]:
    """Every barrier, with the conditions under which it is reached, outermost first."""
    for op in region.ops:
        if op.opcode == "barrier":
            yield op, [*around, *map(_Condition, op.operands)]
        for inner in op.regions:
            yield from _barriers(
                inner, [*around, _Condition(op.operands[0]), _Condition(inner.terminator.operands[0], "loop", op.span)]
            )


class _Check:
    """Finds divergent and unproven barriers. ``conditions`` are those that a first analysis finds varying in a
    group."""

    def __init__(self, function: Function, conditions: set[Value]) -> None:
        needed = needed_for(function, conditions)
        self.varying = varying_values(function, equal_in_groups(function, needed))
        self.parted = _parted(function, needed)
        self.unrepeatable = unrepeatable_values(function)
        #: whether convergence can be verified before a launch begins
        self.checkable = not function.attrs.get(Attr.AUTORUN) and not any(is_call(op) for op in walk(function.body))
        self.faults: list[Diagnostic] = []
        #: unproven barriers, by the note that names the condition
        self.promises: dict[Diagnostic | None, list[Span | None]] = {}

    def barrier(self, barrier: Op, around: list[_Condition]) -> None:
        """Classify one barrier."""
        differing = [c for c in around if c.value in self.varying]
        wrong = next(
            (c for c in differing if not self.checkable or c.value in self.unrepeatable or self._parts(c.value)), None
        )
        if wrong is not None:
            note = self._note(wrong)
            self.faults.append(
                Diagnostic(
                    "not all work-items of a group may reach this barrier",
                    barrier.span,
                    _HINT,
                    notes=(note,) if note is not None else (),
                    code=Code.DIVERGENT_BARRIER,
                )
            )
        elif differing:
            self.promises.setdefault(self._note(differing[0]), []).append(barrier.span)

    def _parts(self, value: Value) -> bool:
        """Whether the condition differs in some group, given that all uniform conditions hold."""
        if value in self.parted:
            return True
        if value.op is None or value.op.opcode != "and":
            return False
        differing = [v for v in value.op.operands if v in self.varying]
        return len(differing) == 1 and self._parts(differing[0])

    def _note(self, condition: _Condition) -> Diagnostic | None:
        place = condition.span or parting_place(condition.value, self.varying)
        return (
            Diagnostic(f"this {condition.what} may differ between them", place, severity="note")
            if place is not None
            else None
        )


def _parted(function: Function, needed: set[Value]) -> set[Value]:
    """Values that differ in some group of a permitted size, by ids and constants."""
    queries = {
        (op.attrs[Attr.FN], op.attrs.get(Attr.DIM, 0))
        for op in walk(function.body)
        if op.opcode == "work_item" and op.result in needed
    }
    size = _some_size(function, {dim for fn, dim in queries if fn in ("local_id", "global_id")})
    found: set[Value] = set()
    for group in _groups(size[0], needed) if ("global_id", 0) in queries else [0]:
        ids = local_ids(size)
        for d, number in enumerate((group, 0, 0)):
            ids["group_id", d] = [number] * len(ids["local_id", d])
            ids["global_id", d] = [number * size[d] + n for n in ids["local_id", d]]
        found |= PartialExecution(function, ids, needed).parted
    return found


def _groups(size: int, needed: set[Value]) -> list[int]:
    numbers = {
        v.op.attrs[Attr.VALUE]
        for v in needed
        if v.op is not None and v.op.opcode == "const" and isinstance(v.op.attrs[Attr.VALUE], int)
    }
    return [0, 1, *sorted({n // size for n in numbers if 2 * size <= n < 1 << 31})[:MOST_GROUPS]]


def _some_size(function: Function, dims: set[int]) -> tuple[int, int, int]:
    """A permitted group: of the required size, else of the largest, with about equal sizes in the dimensions."""
    if size := function.attrs.get(Attr.WORK_GROUP_SIZE):
        x, y, z = size
        return x, y, z
    most, found = most_work_items(function), [1, 1, 1]
    asked = sorted(dims) or [0]
    for k, d in enumerate(asked):
        found[d] = max(1, round((most // (found[0] * found[1] * found[2])) ** (1 / (len(asked) - k))))
    x, y, z = found
    return x, y, z
