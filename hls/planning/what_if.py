"""What-if trials: plans kernels again with one thing changed, to find out what the change would gain.

A :class:`SourceEdit` is a change that a user can write: a pragma, an attribute, an option. The kernel goes through all
passes again. A :class:`PlannedEdit` removes a constraint that the user would have to remove by rewriting the loop: the
planned kernel is changed, and only scheduled again. It then computes something else, so only its IIs are meaningful.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from ..diag import CompileError, Span
from ..ir import Attr, Function, InterleaveReason, Module, Op, Region, TokenType, Value, walk
from ..ir.accesses import is_access, memory_name
from ..ir.clone import clone_function
from ..passes.inspection import Inspection
from ..passes.loops.mark_non_interleaved import MarkNonInterleaved
from ..passes.run_stages import legalize
from .iterate import Compilation, CompiledKernel, optimize_alone, plan_again, plan_alone
from .schedule import RegionPlan

__all__ = [
    "Bypass",
    "Cut",
    "InRom",
    "Ivdep",
    "KnownEarly",
    "OneStore",
    "PlannedEdit",
    "Ports",
    "RequestedII",
    "Restrict",
    "SourceEdit",
    "WhatIf",
    "WithPragmas",
    "critical_args",
    "work",
]

#: Limits that keep compilation fast: trials of a kernel; trials of a program that run all passes again (each takes as
#: long as planning the kernel did); operations of a kernel that is tried at all; and the work of all its trials, in
#: units of :func:`work`.
MOST_TRIALS, MOST_IN_SOURCE, MOST_OPS, MOST_WORK = 16, 12, 3_000, 8_000
#: elements of the array that replaces a buffer in a trial
ROM_ELEMENTS = 1024


class SourceEdit(Protocol):
    """A change of one function of the program before optimization, in place."""

    def apply(self, function: Function) -> bool:
        """Make the change; returns whether there was anything to change."""


class PlannedEdit(Protocol):
    """A change of a planned kernel, in place; ``copies`` maps each of its operations to its copy."""

    def apply(self, copies: Mapping[Op, Op]) -> bool:
        """Make the change; returns whether there was anything to change."""


def _loops_at(function: Function, span: Span | None) -> list[Op]:
    return [op for op in walk(function.body) if op.opcode == "loop" and op.span == span]


@dataclass(frozen=True)
class WithPragmas:
    """The loop at ``span`` with other pragmas: attributes to set, and names of attributes to drop."""

    span: Span | None
    add: tuple[tuple[str, object], ...] = ()
    drop: tuple[str, ...] = ()

    def apply(self, function: Function) -> bool:
        """Change the attributes of the loops at ``span``. Returns whether there are any."""
        loops = _loops_at(function, self.span)
        for loop in loops:
            for name in self.drop:
                loop.attrs.pop(name, None)
            loop.attrs |= dict(self.add)
        return bool(loops)


@dataclass(frozen=True)
class Ivdep:
    """``#pragma ivdep`` at the loop at ``span``, for the memory that is declared at ``memory``, or for all."""

    span: Span | None
    memory: Span | None = None

    def name(self, function: Function) -> str:
        """The name of the memory in the loop's function; "" if it declares no such memory."""
        return next((m.name for m in function.memories.values() if self.memory and m.span == self.memory), "")

    def apply(self, function: Function) -> bool:
        """Add the pragma to the loops at ``span``. Returns whether there are any."""
        loops = _loops_at(function, self.span)
        for loop in loops:
            loop.attrs[Attr.IVDEP] = (*loop.attrs.get(Attr.IVDEP, ()), (self.name(function), 0))
        return bool(loops)


@dataclass(frozen=True)
class Ports:
    """Attributes of the memory that is declared at ``memory``: some added, some dropped."""

    memory: Span | None
    add: tuple[tuple[str, object], ...]
    drop: tuple[str, ...] = ()

    def apply(self, function: Function) -> bool:
        """Change the attributes of the memories that are declared there. Returns whether there are any."""
        found = [m for m in function.memories.values() if m.span is not None and m.span == self.memory]
        new = dict(self.add)
        for m in found:
            kept = tuple((name, value) for name, value in m.attrs if name not in (*self.drop, *new))
            function.memories[m.name] = replace(m, attrs=(*kept, *self.add))
        return bool(found)


@dataclass(frozen=True)
class OneStore:
    """Keeps only the first of the stores in the loop at ``span`` to the memory that is declared at ``memory``."""

    span: Span | None
    memory: Span | None

    def apply(self, function: Function) -> bool:
        """Remove all but the first of the stores. Returns whether there were several."""
        names = {m.name for m in function.memories.values() if m.span is not None and m.span == self.memory}
        stores = [
            op
            for loop in _loops_at(function, self.span)
            for op in walk(loop.regions[0])
            if op.opcode == "store" and _base(op.operands[0]) in names
        ]
        _remove(function.body, set(stores[1:]))
        return len(stores) > 1


def _base(address: Value) -> str | None:
    """The memory that an address is computed from; None where that is not evident."""
    while address.op is not None and address.op.opcode != "addr" and address.op.operands:
        address = address.op.operands[0]
    return address.op.attrs[Attr.MEM] if address.op is not None and address.op.opcode == "addr" else None


def _remove(region: Region, ops: set[Op]) -> None:
    region.ops = [op for op in region.ops if op not in ops]
    for op in region.ops:
        for inner in op.regions:
            _remove(inner, ops)


@dataclass(frozen=True)
class InRom:
    """Replaces a read-only buffer by an array inside the kernel, which responds in a few cycles."""

    memory: Span | None

    def apply(self, function: Function) -> bool:
        """Give the buffers ``ROM_ELEMENTS`` made-up elements. Returns whether there are any."""
        found = [m for m in function.memories.values() if m.span is not None and m.span == self.memory]
        for m in found:
            data = bytes((167 * k * k + 13 * k + (k >> 8)) & 0xFF for k in range(ROM_ELEMENTS * m.element.bytes))
            function.memories[m.name] = replace(
                m, space="constant", length=ROM_ELEMENTS, const=True, data=data, attrs=(), attr_spans=()
            )
        return bool(found)


@dataclass(frozen=True)
class Restrict:
    """``restrict`` on the buffers that are declared at ``memories``."""

    memories: frozenset[Span]

    def apply(self, function: Function) -> bool:
        """Declare the buffers so. Returns whether there are any that were not."""
        found = [m for m in function.memories.values() if m.span in self.memories and not m.restrict]
        for m in found:
            function.memories[m.name] = replace(m, restrict=True)
        return bool(found)


@dataclass(frozen=True)
class Cut:
    """Cuts a recurrence: the carried values ``args`` of a loop have their initial values in each iteration."""

    loop: Op
    args: tuple[Value, ...]

    def apply(self, copies: Mapping[Op, Op]) -> bool:
        """Replace the carried values by the initial ones. Returns whether any is named."""
        loop = copies[self.loop]
        (body,) = loop.regions
        first = {body.args[arg.index]: loop.operands[1 + arg.index] for arg in self.args}
        _replace(body, first)
        for child in walk(body):
            if child.attrs.get(Attr.INTERLEAVE_REASON) == InterleaveReason.AWAITED:
                del child.attrs[Attr.INTERLEAVE], child.attrs[Attr.INTERLEAVE_REASON]
        return bool(first)


@dataclass(frozen=True)
class Bypass:
    """Removes an operation from a loop: users of its result take ``operand``, which has the same type, instead."""

    loop: Op
    op: Op
    operand: int

    def apply(self, copies: Mapping[Op, Op]) -> bool:
        """Replace the result by the operand in the whole loop. Always True."""
        op = copies[self.op]
        _replace(copies[self.loop].regions[0], {op.result: op.operands[self.operand]})
        return True


@dataclass(frozen=True)
class KnownEarly:
    """Makes the continue condition of a loop known at once."""

    loop: Op

    def apply(self, copies: Mapping[Op, Op]) -> bool:
        """Make the continue condition that of the loop's entry. Always True."""
        loop = copies[self.loop]
        loop.regions[0].terminator.operands[0] = loop.operands[0]
        return True


@dataclass(frozen=True)
class RequestedII:
    """Requests another II of a loop, or, with None, takes the request back."""

    loop: Op
    ii: int | None

    def apply(self, copies: Mapping[Op, Op]) -> bool:
        """Set or drop the attribute. Always True."""
        attrs = copies[self.loop].attrs
        attrs.pop(Attr.II, None)
        if self.ii is not None:
            attrs[Attr.II] = self.ii
        return True


def _replace(region: Region, values: Mapping[Value, Value]) -> None:
    for op in region.ops:
        op.operands[:] = [values.get(value, value) for value in op.operands]
        for inner in op.regions:
            _replace(inner, values)


def critical_args(plan: RegionPlan) -> tuple[Value, ...]:
    """The carried values on the recurrence that forbids a smaller II; none if that is the recurrence of the condition,
    a port or a token."""
    found = plan.bottleneck
    if plan.cause == "schedule":
        keys = [step.src for step in found.steps] if found is not None else []
        carried = [plan.carried[key[1]] for key in keys if isinstance(key, tuple) and key[0] in ("read", "write")]
        return tuple(dict.fromkeys(c.arg for c in carried if not isinstance(c.arg.type, TokenType)))
    ways = [c for c in plan.carried if not c.overlap and not c.between and c.write.level > c.read.level]
    last = max(ways, key=lambda c: c.write, default=None)
    if last is None or not plan.speculative and plan.decide.level and plan.decide >= last.write:
        return ()
    return () if isinstance(last.arg.type, TokenType) else (last.arg,)


def work(function: Function) -> int:
    """About how much work planning a kernel is: one unit for each operation, and one for each pair of an access and a
    store of one memory, which dependence tests and schedules look at."""
    accesses, stores = Counter[str](), Counter[str]()
    ops = 0
    for op in walk(function.body):
        ops += 1
        if is_access(op):
            accesses[memory_name(op)] += 1
            stores[memory_name(op)] += op.opcode != "load"
    return ops + sum(count * stores[name] for name, count in accesses.items())


class WhatIf:
    """Tries changes of the kernels of one program: a linked ``module``, in its state at the begin of the compilation.

    A change that cannot be built, or that has nothing to change, has no result. The trials per kernel and per program
    are limited, and very large kernels are not tried: ``untried`` says so.
    """

    def __init__(self, module: Module, compilation: Compilation) -> None:
        self.module, self.compilation = module, compilation
        self.made: dict[str, int] = {}
        self.worked: dict[str, int] = {}
        self.in_source_made = 0
        self.known: dict[tuple, CompiledKernel | None] = {}
        #: by kernel: the limit that kept a change from being tried
        self.untried: dict[str, str] = {}

    @cached_property
    def _legal(self) -> Module:
        apart = self._apart()
        return legalize(self.module, apart.board, apart.passes())

    def _apart(self, fp_relaxed: bool | None = None) -> Compilation:
        options = self.compilation.options
        if fp_relaxed is not None:
            options = replace(options, fp_relaxed=fp_relaxed)
        return replace(self.compilation, options=options, warnings=[], changes=[], inspection=None)

    def in_source(
        self, kernel: CompiledKernel, edits: tuple[SourceEdit, ...], fp_relaxed: bool | None = None
    ) -> CompiledKernel | None:
        """The kernel planned after the edits, each of which must find something to change; or with ``fp_relaxed``, the
        option to reassociate sums of floats."""

        def plan():
            self.in_source_made += 1
            if self.in_source_made > MOST_IN_SOURCE:
                self.untried[kernel.function.name] = f"the limit is {MOST_IN_SOURCE} changes of the source per program"
                return None
            functions = {name: clone_function(f) for name, f in self._legal.functions.items()}
            done = [[edit.apply(function) for function in functions.values()] for edit in edits]
            if not all(any(each) for each in done):
                return None
            module = Module(functions, self._legal.sources, self._legal.channels)
            return plan_alone(kernel.function.name, module, self._apart(fp_relaxed))

        return self._tried(kernel, (edits, fp_relaxed), plan)

    def in_plan(self, kernel: CompiledKernel, edits: tuple[PlannedEdit, ...]) -> CompiledKernel | None:
        """The planned kernel after the edits, scheduled again."""

        def plan():
            function = clone_function(kernel.function)
            copies = dict(zip(walk(kernel.function.body), walk(function.body), strict=True))
            if not all(edit.apply(copies) for edit in edits):
                return None
            if any(isinstance(edit, Cut) for edit in edits):  # fewer loops must be waited for
                function = MarkNonInterleaved().run(function)
            return plan_again(function, self._apart())

        return self._tried(kernel, edits, plan)

    def watch(self, kernel: CompiledKernel, inspection: Inspection) -> None:
        """Run the passes on the kernel again, as before, with an inspection."""
        optimize_alone(kernel.function.name, self._legal, replace(self._apart(), inspection=inspection))

    def _tried(self, kernel: CompiledKernel, key, plan: Callable[[], CompiledKernel | None]) -> CompiledKernel | None:
        name = kernel.function.name
        if (name, key) in self.known:
            return self.known[name, key]
        if sum(1 for _ in walk(kernel.function.body)) > MOST_OPS:
            self.untried[name] = f"the kernel has more than {MOST_OPS:,} operations"
            return None
        if self.made.get(name, 0) >= MOST_TRIALS:
            self.untried[name] = f"the limit is {MOST_TRIALS} changes per kernel"
            return None
        cost = work(kernel.function)
        if self.worked.get(name, 0) + cost > MOST_WORK:
            self.untried[name] = (
                f"each takes about as long as planning the kernel did ({cost:,} operations and pairs of accesses), and "
                f"the limit is {MOST_WORK:,} for all of them"
            )
            return None
        self.worked[name] = self.worked.get(name, 0) + cost
        self.made[name] = self.made.get(name, 0) + 1
        try:
            found = plan()
        except CompileError:  # not every change can be built
            found = None
        self.known[name, key] = found
        return found
