"""What concerns all kernels of a program: pipes join them, and kernels that run by themselves get their copies."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from ..diag import CompileError, Diagnostic
from ..ir import Builder, Function, MemoryObject, Module, Op, Region, walk
from ..ir.clone import clone_function, clone_module
from ..ir.rewrite import constant, rewrite
from .flush import FlushSubnormals
from .fold import Fold
from .fused import FuseTrees
from .inline import Inline

__all__ = ["compute_units", "link_program", "repeat_for_ever"]


def link_program(module: Module, fpc: bool = False, tell: Callable[[Diagnostic], None] | None = None, flush: bool = False) -> Module:
    """The program as hardware and emulator see it. With ``fpc`` sums are fused, of which ``tell`` gets a note each; with ``flush``
    subnormal numbers count as zeros.

    Before: as the frontend made it. After: pipe arguments of the same name are one channel of that name. An autorun kernel
    stands as often as its ``num_compute_units`` say, each copy with its place among them, as NAME_X, NAME_X_Y or NAME_X_Y_Z;
    one of a single work-item begins again when it ends. Raises CompileError for pipes that do not fit.
    """
    result = clone_module(module)
    if flush:
        result = Module({name: FlushSubnormals().run(f) for name, f in result.functions.items()}, result.sources, result.channels)
    if fpc:  # before helpers become a part of their callers: what stands in one expression is seen
        result = Module({name: FuseTrees(tell).run(f) for name, f in result.functions.items()}, result.sources, result.channels)
    for function in result.kernels:
        _link_pipes(function, result.channels)
    if not any(f.attrs.get("autorun") for f in result.kernels):
        return result
    result = Inline().run(result)  # who asks for its place may be a helper
    functions: dict[str, Function] = {}
    for function in result.functions.values():
        for copy in _copies(function) if function.attrs.get("autorun") else [function]:
            if copy.name in functions or (copy.name in result.functions and copy.name != function.name):
                raise CompileError.at(function.span, f"a copy of kernel {function.name} would have the name of kernel {copy.name}",
                                      "rename one of them")
            functions[copy.name] = copy
    return Module(functions, result.sources, result.channels)


def compute_units(function: Function) -> tuple[int, ...]:
    """How many copies the program asks for, in each of one to three dimensions."""
    units = function.attrs.get("num_compute_units", 1)
    return units if isinstance(units, tuple) else (units,)


def _copies(function: Function) -> Iterable[Function]:
    units = compute_units(function)
    for place in itertools.product(*map(range, units)):
        copy = clone_function(function)
        if units != (1,) * len(units):
            copy.name = "_".join([function.name, *map(str, place)])
        rewrite(copy.body, partial(_place, place))
        if not function.attrs.get("ndrange"):
            repeat_for_ever(copy)
        yield copy


def _place(place: tuple[int, ...], op: Op, b: Builder):
    if op.opcode != "work_item" or op.attrs["fn"] != "compute_id":
        return None
    return [b.const((*place, 0, 0)[op.attrs.get("dim", 0)], op.result.type)]


def repeat_for_ever(function: Function) -> None:
    """Let the kernel's body be that of a loop without end, in place: it begins again as soon as it can, with fresh variables."""
    if any(_endless(op) for op in Fold().run(function).body.ops):
        return  # it does so itself
    body, inside = function.body, Region()
    b = Builder(inside, function.span)
    used = {op.attrs["mem"] for op in walk(body) if op.opcode == "addr"}
    for memory in function.memories.values():
        if memory.space == "private" and memory.name in used:
            b.op("fresh", attrs={"mem": memory.name, "set": False})
    inside.ops += body.ops[:-1]
    b.op("yield", b.true())
    end = body.ops[-1]
    body.ops = []
    outside = Builder(body, function.span)
    outside.op("loop", outside.true(), regions=[inside], attrs={"label": "autorun", "form": "while", "unroll": 1})
    body.ops.append(end)


def _endless(op: Op) -> bool:
    """Whether the operation is a loop that surely begins and never ends."""
    return op.opcode == "loop" and constant(op.operands[0]) == 1 == constant(op.regions[0].terminator.operands[0])


def _link_pipes(function: Function, channels: dict[str, MemoryObject]):
    """Make the pipes of a kernel channels of the program."""
    for pipe in [m for m in function.memories.values() if m.space == "pipe"]:
        known = channels.get(pipe.name)
        if known is not None and ("pipe", True) not in known.attrs:
            raise CompileError.at(pipe.span, f"the pipe '{pipe.name}' has the name of a channel{_at(known)}", "rename one of them")
        if known is not None and known.element != pipe.element:
            raise CompileError.at(pipe.span, f"the pipe '{pipe.name}' passes other values here than{_at(known)}",
                                  "declare it with the same type in both kernels: pipes are joined by their names")
        channels[pipe.name] = _joined(pipe, known)
        del function.memories[pipe.name]


def _joined(pipe: MemoryObject, known: MemoryObject | None) -> MemoryObject:
    """The channel of a pipe: as deep as any of its kernels asks for."""
    depths = [dict(m.attrs)["depth"] for m in (pipe, known) if m is not None and "depth" in dict(m.attrs)]
    attrs = (("pipe", True), *((("depth", max(depths)),) if depths else ()))
    return replace(known or pipe, space="channel", length=1, attrs=attrs)


def _at(memory: MemoryObject) -> str:
    return f" in line {memory.span.line}" if memory.span else ""
