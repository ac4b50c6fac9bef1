"""Copies of a kernel that share the iterations of its outermost loop."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...analysis.dependence.dependence import Dependence, Kind, dependences
from ...diag import Code, CompileError, Diagnostic, at_line
from ...ir import (
    I64,
    Attr,
    Builder,
    FloatType,
    Function,
    MemoryObject,
    Module,
    Op,
    Region,
    Value,
    has,
    memory_name,
    walk,
)
from ...ir.clone import clone_function
from ...ir.launch import is_part, units_of
from ...ir.rewrite import constant
from ..manager import Form, ModulePass
from .carried_reductions import Reduction, reduction
from .divided_loop import DividedLoop, Undivided, divided_loop, with_steps_ahead
from .names import unused_name
from .uneven_loop import rounds_of

__all__ = ["CopyKernel"]

#: what a copy may do besides pure operations: everything else may happen once only, or in order
_ALLOWED = frozenset({"loop", "load", "store", "addr", "yield", "return"})


@dataclass(frozen=True)
class CopyKernel(ModulePass):
    """Copies of single work-item kernels. Before: flat kernels whose accesses are not ordered by tokens yet. After: of
    each kernel ``count`` parts, the first of its name and the others NAME_copy, each of which executes a share
    of the iterations of the outermost loop: a contiguous one, or pieces in turns where iterations may differ in what
    loops inside do. One launch of the kernel starts all. What the loop accumulates, the
    others send to the first copy, which joins it, and does what follows the loop.

    A kernel some iteration of which may need another one raises CompileError with the reason. ``taken`` are names of
    functions that the module does not hold, and that no part may have. ``floats``: sums of floats may be accumulated in
    any order. ``warn`` receives a warning where the loop has fewer iterations than there are copies.
    """

    address_bits: int = 40
    count: int = 2
    taken: frozenset[str] = frozenset()
    floats: bool = False
    warn: Callable[[Diagnostic], None] | None = None

    name = "copy-kernel"
    requires = frozenset({Form.FLAT, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, module: Module) -> Module:
        """The program with the copies of all kernels."""
        functions: dict[str, Function] = {}
        channels = dict(module.channels)
        for function in module.functions.values():
            parts = self._copies(function, channels, {*self.taken, *module.functions, *functions})
            functions |= {part.name: part for part in parts}
        return Module(functions, module.sources, channels)

    def _copies(self, function: Function, channels: dict[str, MemoryObject], taken: set[str]) -> list[Function]:
        """The copies of a kernel, whose channels are added."""
        if function.kind != "kernel" or is_part(function):
            return [function]
        function = with_steps_ahead(function)
        divided = _check(function, self.address_bits, self.floats)
        if self.warn is not None and divided.trips is not None and divided.trips < self.count:
            self.warn(_idle(function, divided.loop, divided.trips, self.count))
        names = [function.name]
        for _ in range(1, self.count):
            names.append(unused_name(f"{function.name}_copy", {*taken, *names}))
        sent = _sent(function, divided, names[1:], {*channels, *function.memories})
        channels |= {one.name: one for each in sent.values() for one in each}
        return [self._copy(function, names, number, sent) for number in range(self.count)]

    def _copy(self, function: Function, names: list[str], number: int, sent: "_Sent") -> Function:
        """Copy no. ``number`` of the kernel, under its name."""
        part = clone_function(function)
        part.name = names[number]
        related = {Attr.PART_OF: function.name} if number else {Attr.PARTS: tuple(names[1:])}
        part.attrs = {**part.attrs, **related, Attr.SHARES: len(names)}
        loop = _loop(part)
        found = divided_loop(loop, self.floats)
        assert isinstance(found, DividedLoop)
        if number:
            _send(part.body, found, {k: channels[number - 1] for k, channels in sent.items()})
        else:
            _join(part.body, found, sent)
        if (rounds := rounds_of(found)) == 1:
            found.take(part.body, number, len(names))
        else:
            found.deal(part.body, number, len(names), rounds)
            _promise(part, loop)
        return part


def _promise(part: Function, loop: Op) -> None:
    """Note what :func:`_check` has found, since places in the pieces of the iterations do not show it any more: no
    iteration needs what another one stores to buffers."""
    for op in walk(part.body):
        if op is loop or op.opcode == "loop" and loop in op.regions[0].ops:
            stored = {memory_name(one) for one in _inside(loop) if one.opcode == "store"}
            names = sorted(name for name in stored if not part.memories[name].onchip)
            op.attrs[Attr.IVDEP] = (*op.attrs.get(Attr.IVDEP, ()), *((name, 0) for name in names))


#: the channels from each copy but the first, by the number of the carried value that they pass
_Sent = Mapping[int, tuple[MemoryObject, ...]]


def _sent(function: Function, divided: DividedLoop, others: list[str], taken: set[str]) -> _Sent:
    """The channels for what the loop accumulates and operations behind it use; their names are added to ``taken``."""
    loop = divided.loop
    used = _used(_behind(function, loop))
    found: dict[int, tuple[MemoryObject, ...]] = {}
    for k, (arg, step) in enumerate(zip(loop.regions[0].args, divided.steps, strict=True)):
        if not isinstance(step, Reduction) or loop.results[k] not in used:
            continue
        channels = []
        for copy in others:
            stem = re.sub(r"\W", "_", arg.name) or "value"
            name = unused_name(f"{copy}_{stem}", taken)
            taken.add(name)
            attrs = ((Attr.CHANNEL_DEPTH, 1), (Attr.CARRIES, f"{arg.name or 'a value'} of {copy}"))
            channels.append(MemoryObject(name, "channel", arg.type, 1, span=loop.span, attrs=attrs))
        found[k] = tuple(channels)
    return found


def _send(body: Region, divided: DividedLoop, channels: Mapping[int, MemoryObject]) -> None:
    """Let the kernel end behind its loop, where it sends what that accumulated."""
    place, end = body.ops.index(divided.loop), body.ops[-1]
    body.ops = body.ops[: place + 1]
    b = Builder(body, divided.loop.span)
    for k, channel in channels.items():
        attrs = {Attr.CHANNEL: channel.name, Attr.BLOCKING: True}
        b.op("channel_write", b.const(0, I64), b.true(), divided.loop.results[k], attrs=attrs)
    body.ops.append(end)


def _join(body: Region, divided: DividedLoop, sent: _Sent) -> None:
    """Let what is behind the loop use the values of all copies, in their order."""
    loop, steps = divided.loop, divided.steps
    used = _used(body.ops[body.ops.index(loop) + 1 :])
    plain = [k for k, value in enumerate(loop.results) if value in used and not isinstance(steps[k], Reduction)]
    ends = {loop.results[k]: value for k, value in divided.ends(body, plain).items()}
    place = body.ops.index(loop) + 1
    behind, body.ops = body.ops[place:], body.ops[:place]
    b = Builder(body, loop.span)
    for k, channels in sent.items():
        total, step = loop.results[k], steps[k]
        assert isinstance(step, Reduction)
        for channel in channels:
            attrs = {Attr.CHANNEL: channel.name, Attr.BLOCKING: True}
            received = b.value("channel_read", b.const(0, I64), b.true(), result=total.type, attrs=attrs)
            total = step.join(b, total, received)
        ends[loop.results[k]] = total
    for op in (one for each in behind for one in (each, *_inside(each))):
        op.operands = [ends.get(value, value) for value in op.operands]
    body.ops += behind


def _used(ops: list[Op]) -> set[Value]:
    """All values that operations use, themselves or inside."""
    return {value for op in ops for one in (op, *_inside(op)) for value in one.operands}


def _behind(function: Function, loop: Op) -> list[Op]:
    return function.body.ops[function.body.ops.index(loop) + 1 :]


def _acts(op: Op, function: Function) -> bool:
    """Whether an operation stores to what others see, itself or inside."""
    stored = (memory_name(one) for one in (op, *_inside(op)) if one.opcode == "store")
    return any(not function.memories[name].onchip for name in stored)


def _inside(op: Op) -> list[Op]:
    return [one for region in op.regions for one in walk(region)]


def _check(function: Function, address_bits: int, floats: bool) -> DividedLoop:
    """The loop whose iterations are shared. Raises CompileError for a kernel where they cannot be."""
    if function.attrs.get(Attr.NDRANGE):
        raise _error(function, None, "it has many work-items", "write num_compute_units instead")
    if function.attrs.get(Attr.AUTORUN) or units_of(function) > 1:
        raise _error(function, None, "no single launch starts it alone", "remove the other attribute")
    for op in walk(function.body):
        if op.opcode not in _ALLOWED and not has(op, "pure") and not has(op, "constant"):
            reason = f"it has an operation whose order matters ({op.opcode}{at_line(op.span)})"
            raise _error(function, op, reason, "move it to a kernel of its own")
    for memory in function.memories.values():
        if memory.volatile:
            raise _error(function, None, f"{memory.name} is volatile", "remove `volatile` if nobody else writes there")
    loop = _loop(function)
    found = divided_loop(loop, floats)
    if isinstance(found, Undivided):
        raise _error(function, loop, found.reason, found.hint or _hint(loop, floats))
    inside, behind = set(_inside(loop)), {one for op in _behind(function, loop) for one in (op, *_inside(op))}
    for fact in dependences(function, address_bits):
        if _matters(fact, function, loop, inside, behind):
            raise _met(function, fact, inside)
    return found


def _hint(loop: Op, floats: bool) -> str:
    """What to do about a loop whose iterations cannot be shared."""
    body = loop.regions[0]
    if not floats and any(
        isinstance(arg.type, FloatType) and reduction(loop, k, True) is not None for k, arg in enumerate(body.args)
    ):
        return "compile with -fp-relaxed, which allows sums of floats in another order"
    return "count upwards to a bound, and keep nothing but sums, minima and maxima from one iteration to the next"


def _loop(function: Function) -> Op:
    """The outermost loop: that which alone stores, or else the last one before what is stored."""
    acting = [op for op in function.body.ops if _acts(op, function)]
    if not acting:
        raise _error(function, None, "it stores nothing", "remove the attribute")
    loops = [op for op in acting if op.opcode == "loop"]
    if loops:
        others = [one for one in acting if one is acting[0] is not loops[0] or one in loops[1:]]
        if others:
            reason = f"it does more than its loop{at_line(loops[0].span)}: {others[0].opcode}{at_line(others[0].span)}"
            raise _error(function, others[0], reason, "move what stands outside of the loop to another kernel")
        return loops[0]
    before = [op for op in function.body.ops[: function.body.ops.index(acting[0])] if op.opcode == "loop"]
    if before:
        return before[-1]
    reason = f"it stores outside of its loops only ({acting[0].opcode}{at_line(acting[0].span)})"
    raise _error(function, acting[0], reason, "store in the loop whose iterations are shared, or remove the attribute")


def _matters(fact: Dependence, function: Function, loop: Op, inside: set[Op], behind: set[Op]) -> bool:
    """Whether two copies might execute the accesses in the wrong order. What is ``behind`` the loop only the first one
    executes."""
    memories = [function.memories[memory_name(op)] for op in (fact.src, fact.dst)]
    both = {fact.src, fact.dst}
    if all(memory.onchip for memory in memories):  # each copy has its own, filled as that of the kernel
        return fact.kind is Kind.RAW and (fact.loop is loop or fact.src in inside and fact.dst in behind)
    if fact.loop is not loop and both <= inside or both <= behind:
        return False  # within an iteration, or a loop inside, or a copy
    if fact.kind is not Kind.WAW:
        return True
    return not _store_the_same(fact.src.operands[1], fact.dst.operands[1], loop)


def _store_the_same(one: Value, other: Value, loop: Op) -> bool:
    """Whether two stores store one value in all iterations of the loop, so that it makes no difference which is
    later."""
    if one.type != other.type:
        return False
    if one is other:
        return constant(one) is not None or one not in _changing(loop)
    return constant(one) is not None and constant(one) == constant(other)


def _changing(loop: Op) -> set[Value]:
    """The values that an iteration of the loop computes or is given."""
    found = set(loop.regions[0].args)
    for op in _inside(loop):
        found.update(op.results, *(region.args for region in op.regions))
    return found


def _idle(function: Function, loop: Op, trips: int, count: int) -> Diagnostic:
    times = f"{trips} iteration{'s' * (trips != 1)}"
    return Diagnostic(
        f"kernel {function.name} has {count} copies that share the iterations of its outermost loop, which has {times}",
        loop.span,
        f"write compute({trips}): other copies have nothing to do" if trips > 1 else "remove the attribute",
        "warning",
        code=Code.IDLE_COPIES,
    )


def _met(function: Function, fact: Dependence, inside: set[Op]) -> CompileError:
    verb = {Kind.RAW: "may load what", Kind.WAR: "may store to what", Kind.WAW: "may store to what"}[fact.kind]
    done = "loads" if fact.kind is Kind.WAR else "stores"
    one, other = (f"the {op.opcode} of {memory_name(op)}{at_line(op.span)}" for op in (fact.dst, fact.src))
    where = "another iteration" if {fact.src, fact.dst} <= inside else "another copy"
    reason = f"{one} {verb} {where} {done} ({other.removeprefix('the ')})"
    if fact.overlap:
        return _error(function, fact.dst, f"{reason}, if buffers overlap", "declare the buffers `restrict`")
    if where == "another copy":
        return _error(function, fact.dst, reason, "move what stands outside of the loop to another kernel")
    hint = (
        "add `independent` to the attribute, or write `#pragma ivdep` before the loop, if no iteration touches what "
        "another stores; or remove the attribute"
    )
    return _error(function, fact.dst, reason, hint)


def _error(function: Function, op: Op | None, reason: str, hint: str) -> CompileError:
    span = op.span if op is not None and op.span is not None else function.span
    return CompileError.at(span, f"kernel {function.name} cannot be copied: {reason}", hint, code=Code.CANNOT_COPY)
