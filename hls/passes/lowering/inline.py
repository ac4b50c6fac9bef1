"""Inlining: calls become the bodies of the called functions."""

from dataclasses import dataclass, replace

from ...diag import Code, CompileError
from ...ir import Attr, Builder, Function, Module, Op, PointerType, Region, Value, reachable, walk
from ...ir.clone import clone_function, clone_ops
from ...ir.rewrite import rewrite
from ...limits import Limits, exceeded
from ..manager import Form, ModulePass
from .call_rtl import rtl_operation
from .ivdep_targets import follow_pointers, objects

__all__ = ["Inline", "library_label"]


@dataclass(frozen=True)
class Inline(ModulePass):
    """Inlining. Before: kernels and helpers, with ``call``. After: kernels only, without.

    Every call gets private memories of its own, named after the helper's; a ``fresh`` operation at the call marks them
    as uninitialized, so that no value of an earlier iteration of an enclosing loop seems to be needed.
    """

    max_ops: int = Limits.operations

    name = "inline"
    provides = frozenset({Form.INLINED})

    def run(self, module: Module) -> Module:
        """Raises CompileError for recursion, and for a kernel that becomes larger than ``max_ops`` operations."""
        done: dict[str, Function] = {}
        sizes = _Sizes(module)
        for function in module.kernels:
            _check_size(function, sizes, self.max_ops)
            _check_helpers(function, sizes, self.max_ops)
        for function in module.kernels:
            follow_pointers(_inlined(function, module, done, []))
        return Module({f.name: done[f.name] for f in module.kernels}, dict(module.sources), dict(module.channels))


class _Sizes:
    """Sizes of functions in operations, including the bodies of all functions that they call."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known: dict[str, int] = {}

    def of(self, name: str, stack: tuple[str, ...] = ()) -> int:
        """The size of the function, called from ``stack``; 0 for a recursive call, which is refused elsewhere."""
        if name in stack:
            return 0
        if name not in self._known:
            self._known[name] = sum(self.of_op(op, (*stack, name)) for op in walk(self.module.functions[name].body))
        return self._known[name]

    def of_op(self, op: Op, stack: tuple[str, ...] = ()) -> int:
        """The size of an operation without its regions."""
        if op.opcode != "call" or Attr.RTL_MODULE in self.module.functions[op.attrs[Attr.CALLEE]].attrs:
            return 1
        return self.of(op.attrs[Attr.CALLEE], stack)


def _check_size(function: Function, sizes: _Sizes, most: int) -> None:
    """Raise CompileError at the largest call of a kernel that becomes too large."""
    total = sizes.of(function.name)
    largest = max((op for op in walk(function.body) if op.opcode == "call"), key=sizes.of_op, default=None)
    if total > most:
        what = (
            f", {sizes.of_op(largest):,} of them in the call of {largest.attrs[Attr.CALLEE]}, as every call is "
            "hardware of its own"
            if largest
            else ""
        )
        raise CompileError.at(
            largest.span if largest else function.span,
            f"kernel {function.name} becomes {total:,} operations{what}; the limit is {most:,}",
            f"write loops instead of many calls and lines; {exceeded('operations')}",
            code=Code.BUDGET,
        )


#: total size of all functions of a kernel, each with those that it calls, in multiples of the largest kernel size
HELD = 8


def _check_helpers(function: Function, sizes: _Sizes, most: int) -> None:
    """Raise CompileError for a kernel whose call graph is so deep that inlining costs far more than the kernel itself:
    each function is inlined once, with all that it calls."""
    total = sum(sizes.of(one.name) for one in reachable(sizes.module, function) if one.kind != "kernel")
    if total > HELD * most:
        raise CompileError.at(
            function.span,
            f"the functions that kernel {function.name} calls become {total:,} operations, as each has the bodies of "
            f"those that it calls; the limit is {HELD * most:,}",
            f"let functions call each other less deep; {exceeded('operations')}",
            code=Code.RECURSION,
        )


def _inlined(function: Function, module: Module, done: dict, stack: list[str]) -> Function:
    """The function without calls; ``done`` caches results, ``stack`` holds the callers."""
    if function.name in done:
        return done[function.name]
    result = clone_function(function)

    def visit(op: Op, b: Builder):
        if op.opcode != "call":
            return None
        name = op.attrs[Attr.CALLEE]
        if Attr.RTL_MODULE in module.functions[name].attrs and name not in stack:
            return [rtl_operation(op, _inlined(module.functions[name], module, done, [*stack, function.name]), b)]
        if name in (*stack, function.name):
            raise CompileError.at(
                op.span, f"{name} calls itself", "OpenCL C has no recursion: write a loop", code=Code.RECURSION
            )
        return _insert(op, _inlined(module.functions[name], module, done, [*stack, function.name]), result, b)

    rewrite(result.body, visit)
    done[function.name] = result
    return result


def _insert(call: Op, callee: Function, caller: Function, b: Builder) -> list[Value]:
    """Insert the callee's body before the call; returns its values."""
    memories = {name: _adopt(m, callee, caller) for name, m in callee.memories.items()}
    for name in memories.values():
        m = caller.memories[name]
        if m.space == "private":
            b.op("fresh", attrs={Attr.MEM: name, Attr.SET: False})
    values = dict(zip(callee.args, call.operands))
    body = clone_ops(callee.body.ops, values)
    passed = {
        arg.name: objects(value) for arg, value in zip(callee.args, call.operands) if isinstance(arg.type, PointerType)
    }
    _rename(Region(ops=body), memories, passed)
    if Attr.LIBRARY in callee.attrs:  # the user wrote the call, not the operations that replace it
        for op in walk(Region(ops=body)):
            op.span = call.span
            if op.opcode == "loop":
                op.attrs[Attr.LABEL] = library_label(op.attrs.get(Attr.LABEL, ""), callee.name)
    b.region.ops += body[:-1]
    return body[-1].operands


def library_label(label: str, function: str) -> str:
    """The label of a loop of a library function: named after the outermost library function, the one that the user
    calls."""
    return f"{label.partition(' of ')[0]} of {function.rpartition('__')[2]}"


def _rename(region: Region, memories: dict[str, str], passed: dict[str, tuple[str, ...]]) -> None:
    """Rename memories according to ``memories``; ``passed`` maps pointer arguments to the memories they point into, for
    ``ivdep`` on such an argument."""
    for op in region.ops:
        if op.opcode in ("addr", "fresh"):
            op.attrs[Attr.MEM] = memories[op.attrs[Attr.MEM]]
        elif Attr.IVDEP in op.attrs:
            op.attrs[Attr.IVDEP] = tuple(
                (new, safelen)
                for name, safelen in op.attrs[Attr.IVDEP]
                for new in (memories.get(name, name), *passed.get(name, ()))
            )
        for inner in op.regions:
            _rename(inner, memories, passed)


def _adopt(memory, callee: Function, caller: Function) -> str:
    """The caller's name for a memory of the callee; tables and local memory are shared, variables are copied."""
    shared = memory.space in ("constant", "local")
    stem = memory.name if memory.space == "constant" else f"{callee.name}.{memory.name}"
    if shared and caller.memories.get(stem) == replace(memory, name=stem):
        return stem
    name, count = stem, 0
    while name in caller.memories:
        count += 1
        name = f"{stem}.{count}"
    caller.memories[name] = replace(memory, name=name)
    return name
