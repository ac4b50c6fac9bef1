"""Copies of a kernel that share the iterations of its outermost loop."""

from dataclasses import dataclass

from ...analysis.dependence.dependence import Dependence, Kind, dependences
from ...diag import Code, CompileError, at_line
from ...ir import Attr, Function, Module, Op, has, memory_name, walk
from ...ir.clone import clone_function
from ...ir.launch import is_part, units_of
from ...ir.rewrite import constant
from ..manager import Form, ModulePass
from .divided_loop import DividedLoop, divided_loop
from .names import unused_name

__all__ = ["CopyKernel"]

#: what a copy may do besides pure operations: everything else may happen once only, or in order
_ALLOWED = frozenset({"loop", "load", "store", "addr", "yield", "return"})


@dataclass(frozen=True)
class CopyKernel(ModulePass):
    """Copies of single work-item kernels. Before: flat kernels whose accesses are not ordered by tokens yet. After: of
    each kernel ``count`` parts, the first of its name and the others NAME_copy, each of which executes a contiguous
    share of the iterations of the outermost loop; one launch of the kernel starts all.

    A kernel some iteration of which may need another one raises CompileError with the reason. ``taken`` are names of
    functions that the module does not hold, and that no part may have.
    """

    address_bits: int = 40
    count: int = 2
    taken: frozenset[str] = frozenset()

    name = "copy-kernel"
    requires = frozenset({Form.FLAT, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, module: Module) -> Module:
        """The program with the copies of all kernels."""
        functions: dict[str, Function] = {}
        for function in module.functions.values():
            parts = self._copies(function, {*self.taken, *module.functions, *functions})
            functions |= {part.name: part for part in parts}
        return Module(functions, module.sources, module.channels)

    def _copies(self, function: Function, taken: set[str]) -> list[Function]:
        if function.kind != "kernel" or is_part(function):
            return [function]
        _check(function, self.address_bits)
        names = [function.name]
        for _ in range(1, self.count):
            names.append(unused_name(f"{function.name}_copy", {*taken, *names}))
        return [_copy(function, names, number) for number in range(self.count)]


def _copy(function: Function, names: list[str], number: int) -> Function:
    """Copy no. ``number`` of the kernel, under its name."""
    part = clone_function(function)
    part.name = names[number]
    related = {Attr.PART_OF: function.name} if number else {Attr.PARTS: tuple(names[1:])}
    part.attrs = {**part.attrs, **related, Attr.SHARES: len(names)}
    loop = next(op for op in part.body.ops if op.opcode == "loop" and _acts(op, part))
    found = divided_loop(loop)
    assert isinstance(found, DividedLoop)
    found.take(part.body, number, len(names))
    return part


def _acts(op: Op, function: Function) -> bool:
    """Whether an operation stores to what others see, itself or inside."""
    stored = (memory_name(one) for one in (op, *_inside(op)) if one.opcode == "store")
    return any(not function.memories[name].onchip for name in stored)


def _inside(op: Op) -> list[Op]:
    return [one for region in op.regions for one in walk(region)]


def _check(function: Function, address_bits: int) -> None:
    """Raises CompileError for a kernel whose iterations cannot be shared."""
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
    found = divided_loop(loop)
    if isinstance(found, str):
        raise _error(function, loop, found, "count upwards to a bound, and keep nothing from one iteration to the next")
    inside = set(_inside(loop))
    for fact in dependences(function, address_bits):
        if _matters(fact, function, loop, inside):
            raise _met(function, fact)


def _loop(function: Function) -> Op:
    """The outermost loop, which alone stores."""
    acting = [op for op in function.body.ops if _acts(op, function)]
    if not acting:
        raise _error(function, None, "it stores nothing", "remove the attribute")
    for op in acting:
        if op.opcode == "loop":
            others = [one for one in acting if one is not op]
            if others:
                reason = f"it does more than its loop{at_line(op.span)}: {others[0].opcode}{at_line(others[0].span)}"
                raise _error(function, others[0], reason, "move what stands outside of the loop to another kernel")
            return op
    reason = f"it stores outside of its loops only ({acting[0].opcode}{at_line(acting[0].span)})"
    raise _error(function, acting[0], reason, "store in the loop whose iterations are shared, or remove the attribute")


def _matters(fact: Dependence, function: Function, loop: Op, inside: set[Op]) -> bool:
    """Whether two copies might execute the accesses in the wrong order."""
    memories = [function.memories[memory_name(op)] for op in (fact.src, fact.dst)]
    if all(memory.onchip for memory in memories):  # each copy has its own, filled as that of the kernel
        return fact.loop is loop and fact.kind is Kind.RAW
    if fact.loop is not loop and {fact.src, fact.dst} <= inside:
        return False  # within an iteration, or a loop inside
    if fact.kind is not Kind.WAW:
        return True
    values = [constant(op.operands[1]) for op in (fact.src, fact.dst)]
    return None in values or values[0] != values[1] or fact.src.operands[1].type != fact.dst.operands[1].type


def _met(function: Function, fact: Dependence) -> CompileError:
    verb = {Kind.RAW: "may load what", Kind.WAR: "may store to what", Kind.WAW: "may store to what"}[fact.kind]
    done = "loads" if fact.kind is Kind.WAR else "stores"
    one, other = (f"the {op.opcode} of {memory_name(op)}{at_line(op.span)}" for op in (fact.dst, fact.src))
    reason = f"{one} {verb} another iteration {done} ({other.removeprefix('the ')})"
    if fact.overlap:
        return _error(function, fact.dst, f"{reason}, if buffers overlap", "declare the buffers `restrict`")
    hint = "write `#pragma ivdep` before the loop if no iteration touches what another stores, or remove the attribute"
    return _error(function, fact.dst, reason, hint)


def _error(function: Function, op: Op | None, reason: str, hint: str) -> CompileError:
    span = op.span if op is not None and op.span is not None else function.span
    return CompileError.at(span, f"kernel {function.name} cannot be copied: {reason}", hint, code=Code.CANNOT_COPY)
