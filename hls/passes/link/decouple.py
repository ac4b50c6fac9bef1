"""Access/execute decoupling: a kernel becomes a part that loads ahead, and a part that computes and stores."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass

from ...diag import Code, CompileError, Diagnostic, Span, at_line
from ...ir import BOOL, Attr, Function, MemoryObject, Module, Op, Value, has, memory_name, walk
from ...ir.clone import clone_function
from ...ir.launch import is_part
from ..loops.marked_loops import marked_loops
from ..manager import Form, ModulePass
from .kernel_parts import Cut, compute_part, memory_part, with_bits
from .movable_loads import Kept, MovableLoads, obstacle
from .names import unused_name

__all__ = ["Decouple"]


@dataclass(frozen=True)
class Decouple(ModulePass):
    """Access/execute decoupling into kernels that are joined by channels (Smith 1982; the feed-forward design model of
    FPGA kernels). Before: flat kernels whose accesses are not ordered by tokens yet. After: of each kernel with loads
    that no store can meet, a part of its name that receives their values, and a part NAME_memory that makes the loads
    and sends them in program order; one launch of the kernel starts both.

    The steps: find the loads that may move; find what their addresses and conditions need; choose the conditions that
    are sent as bits; replace what is received by reads of channels; keep in the other part what decides addresses and
    paths, with a write behind each value that is sent; remove dead code from both.

    ``depth`` is the number of values that each channel holds at least. With ``required``, a kernel with loads none of
    which may move raises CompileError; otherwise ``warn`` receives a note for each load that stays. ``taken`` are names
    of functions that the module does not hold, and that no part may have. In loops at the places ``turning``, whose
    invocations take turns, nothing is received. Where the program marks loops with ``feed_forward``, only their loads
    move, with those that these need; a marked loop no load of which may move raises CompileError. Copies of a kernel
    are split each for itself.
    """

    address_bits: int = 40
    depth: int = 64
    required: bool = False
    warn: Callable[[Diagnostic], None] | None = None
    taken: frozenset[str] = frozenset()
    turning: frozenset[Span] = frozenset()

    name = "decouple"
    requires = frozenset({Form.FLAT, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, module: Module) -> Module:
        """The program with the parts of all kernels that can be split."""
        functions: dict[str, Function] = {}
        channels = dict(module.channels)
        for function in module.functions.values():
            whole = function.kind == "kernel" and not _is_done(function, module)
            taken = {*self.taken, *module.functions, *functions}
            parts = self._parts(function, channels, taken) if whole else [function]
            functions |= {part.name: part for part in parts}
        if list(functions.values()) == list(module.functions.values()):
            return module
        return Module({one.name: _related(one, functions) for one in functions.values()}, module.sources, channels)

    def _parts(self, function: Function, channels: dict[str, MemoryObject], taken: Container[str]) -> list[Function]:
        """The parts of a kernel, whose channels are added; the kernel alone if it is not split."""
        reason = obstacle(function)
        if reason is not None:
            self._refuse(function, reason)
            return [function]
        movable = MovableLoads(function, self.address_bits, self.turning)
        loads, kept = movable.decided
        cut = _cut(function, loads, {*channels, *function.memories})
        cut = with_bits(function, cut, lambda op: movable.turn(op) is not None)
        compute, received = compute_part(function, cut)
        _check_marked(function, movable, received)
        if not received:
            self._explain(function, kept)
            return [function]
        for one in kept:
            self._tell(_note(function, one))
        seen: Counter[tuple[str, int]] = Counter()
        copy = f" of {function.name}" if Attr.PART_OF in function.attrs else ""
        channels |= {cut.names[value]: self._channel(cut.names[value], value, seen, copy) for value in received}
        memory = memory_part(function, unused_name(f"{function.name}_memory", taken), cut, received)
        return [compute, memory]

    def _channel(self, name: str, value: Value, seen: Counter[tuple[str, int]], copy: str) -> MemoryObject:
        """``seen``: how many channels carry what has a name, from a line. ``copy`` names the copy of a kernel that the
        channel belongs to, unless that is the first one."""
        op = value.defining_op
        what = f"load of {memory_name(op)}" if op.opcode == "load" else "condition"
        line = op.span.line if op.span else 0
        seen[what, line] += 1
        if (number := seen[what, line]) > 1:
            what = f"{what} no. {number}"
        what += copy
        attrs = ((Attr.CHANNEL_DEPTH, self.depth), (Attr.CARRIES, what))
        return MemoryObject(name, "channel", value.type, 1, span=op.span, attrs=attrs)

    def _refuse(self, function: Function, reason: str) -> None:
        if not self.required and not marked_loops(function):
            self._tell(_whole(function, reason))
            return
        raise CompileError.at(
            function.span,
            f"kernel {function.name} cannot be split into a memory part and a compute part: {reason}",
            "leave it whole",
            code=Code.CANNOT_DECOUPLE,
        )

    def _explain(self, function: Function, kept: tuple[Kept, ...]) -> None:
        """Say why no load moves."""
        if not self.required:
            for one in kept:
                self._tell(_note(function, one))
        elif kept:
            raise CompileError(*(_error(function, one) for one in kept))
        else:
            self._refuse(function, "it loads nothing that its results need")

    def _tell(self, message: Diagnostic) -> None:
        if self.warn is not None:
            self.warn(message)


def _is_done(function: Function, module: Module) -> bool:
    """Whether the function is a part that is not split further: all are but copies of a kernel that are whole."""
    split = any(one.attrs.get(Attr.LOADS_FOR) == function.name for one in module.functions.values())
    return split or is_part(function) and Attr.SHARES not in function.attrs


def _related(function: Function, functions: Mapping[str, Function]) -> Function:
    """The function with the names of its parts, if it is a kernel that has some."""
    parts = tuple(one.name for one in functions.values() if one.attrs.get(Attr.PART_OF) == function.name)
    if not parts or parts == function.attrs.get(Attr.PARTS):
        return function
    related = clone_function(function)
    related.attrs = {**function.attrs, Attr.PARTS: parts}
    return related


def _check_marked(function: Function, movable: MovableLoads, received: Collection[Value]) -> None:
    """Raises CompileError for a loop that the program marks if nothing in it is received."""
    for loop in movable.marked:
        if any(movable.within(value.defining_op, [loop]) for value in received):
            continue
        if kept := [one for one in movable.decided[1] if movable.within(one.load, [loop])]:
            raise CompileError(*(_error(function, one) for one in kept))
        where = f"its loop over {loop.attrs[Attr.LABEL]}" if loop.attrs.get(Attr.LABEL) else "its loop"
        raise CompileError.at(
            loop.span,
            f"kernel {function.name} cannot be split into a memory part and a compute part: {where}"
            f"{at_line(loop.span)} loads nothing that its results need",
            "write `#pragma feed_forward` before a loop that loads, or remove it",
            code=Code.CANNOT_DECOUPLE,
        )


def _cut(function: Function, loads: tuple[Op, ...], taken: set[str]) -> Cut:
    """The cut at the loads, and a channel name for every value that might be sent."""
    sendable = [op.result for op in walk(function.body) if op in loads or _is_condition(op)]
    names: dict[Value, str] = {}
    for k, value in enumerate(sendable):
        stem = re.sub(r"\W", "_", value.name) or "condition"
        names[value] = unused_name(f"{function.name}_{stem}_{k}", taken)
    return Cut(loads, names)


def _is_condition(op: Op) -> bool:
    return has(op, "pure") and len(op.results) == 1 and op.result.type == BOOL


def _note(function: Function, kept: Kept) -> Diagnostic:
    message = f"of kernel {function.name}, {kept}, so it does not run ahead"
    return Diagnostic(message, kept.load.span, kept.cause.remedy, "note", code=Code.LOAD_STAYS)


def _whole(function: Function, reason: str) -> Diagnostic:
    message = f"kernel {function.name} is not split into a memory part and a compute part: {reason}"
    return Diagnostic(message, function.span, "its loads stay in their places", "note", code=Code.LOAD_STAYS)


def _error(function: Function, kept: Kept) -> Diagnostic:
    message = f"kernel {function.name} cannot be split into a memory part and a compute part: {kept}"
    return Diagnostic(message, kept.load.span, kept.cause.remedy, code=Code.CANNOT_DECOUPLE)
