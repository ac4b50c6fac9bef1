"""Lowers a checked program to an IR module."""

from collections.abc import Sequence
from math import prod

from ..ir import I64, PTR, Attr, Function, InitialValue, MemoryObject, Module, Parameter, Value, walk
from ..narrow import instance, present
from . import tree as tt
from . import types as ct
from .escape import escaping
from .layout import leaves, several, value_type
from .lower_memory import Address, Part
from .lower_statements import StatementLowering
from .storage import Storage, unique

__all__ = ["lower"]


def lower(
    functions: list[tt.FunctionTree],
    constants: list[tt.Variable],
    sources: dict[str, str],
    channels: tuple[tt.Channel, ...] = (),
    program_variables: Sequence[tt.Variable] = (),
) -> Module:
    """Lower every function; callees come before their callers. ``program_variables`` are the file-scope variables that
    are no constants."""
    # a kernel's buffer keeps its name, also in a kernel into which a user of the constant is inlined
    taken = {p.name for f in functions for p in f.parameters}
    names: dict[tt.Variable, str] = {}
    for constant in constants:
        names[constant] = unique(constant.name, taken)
        taken.add(names[constant])
    for variable in program_variables:
        names[variable] = unique(variable.name, taken, "_")
        taken.add(names[variable])
    lowered = {f.name: _function(f, names) for f in functions}
    return Module(lowered, dict(sources), {c.name: _channel(c, "channel") for c in channels})


def _channel(channel: tt.Channel, space: str) -> MemoryObject:
    return MemoryObject(
        channel.name,
        space,
        value_type(channel.type),
        prod(channel.lengths),
        span=channel.span,
        attrs=tuple(channel.attrs.items()),
    )


def _function(tree: tt.FunctionTree, constants: dict[tt.Variable, str]) -> Function:
    function = Function(tree.name, "kernel" if tree.kernel else "helper", attrs=dict(tree.attrs), span=tree.span)
    storage = Storage(function, constants, escaping(present(tree.body)))
    for variable, written in zip(tree.parameters, tree.written_types):
        if tree.kernel:
            function.params.append(_parameter(variable, written))
        if isinstance(variable, tt.Channel):
            function.memories[variable.name] = _channel(variable, "pipe")
        elif variable.kind == "buffer":
            storage.bind_buffer(variable)
    lowering = StatementLowering(storage, function.body, tree.result)
    for variable in tree.parameters:
        if isinstance(variable, tt.Channel):
            continue
        _bind(lowering, function, variable)
    for variable in tree.program_variables:
        _bind_program_variable(storage, function, variable, constants[variable])
    lowering.function(present(tree.body), tree.span)
    if function.attrs.get(Attr.INDEPENDENT):
        _promise(function)
    return function


def _promise(function: Function) -> None:
    """Let each loop of the kernel promise for all buffers what ``ivdep`` does."""
    buffers = tuple((name, 0) for name, memory in function.memories.items() if memory.space == "global")
    for op in walk(function.body):
        if op.opcode == "loop":
            op.attrs[Attr.IVDEP] = tuple(dict.fromkeys((*op.attrs.get(Attr.IVDEP, ()), *buffers)))


def _parameter(variable: tt.Variable | tt.Channel, written: str) -> Parameter:
    if isinstance(variable, tt.Channel):
        return Parameter(variable.name, "pipe", written, 8, variable.span)
    kind = (
        "scalar"
        if variable.kind != "buffer"
        else "local"
        if instance(variable.type, ct.Pointer).space == "local"
        else "buffer"
    )
    resolved = str(ct.container(variable.type.pointee if isinstance(variable.type, ct.Pointer) else variable.type))
    return Parameter(
        variable.name, kind, written, variable.type.size, variable.span, "" if resolved in written.split() else resolved
    )


def _bind_program_variable(storage: Storage, function: Function, variable: tt.Variable, name: str) -> None:
    """Bind a variable of the program to a hidden parameter."""
    if function.kind != "kernel":
        storage.bind_program_variable(variable, _new(function, name, PTR))
        return
    t = variable.type
    while isinstance(t, ct.Array):
        t = t.element
    qualifiers = "const " * variable.const + "volatile " * variable.volatile
    function.params.append(
        Parameter(
            name,
            "buffer",
            f"__global {qualifiers}{t} *",
            8,
            variable.span,
            str(ct.container(t)),
            initial=InitialValue(variable.type.size, variable.data or b""),
        )
    )
    storage.bind_program_variable(variable, None)


def _bind(lowering: StatementLowering, function: Function, variable: tt.Variable) -> None:
    """Bind the parameter to its argument, and give it a variable of its own if the function modifies it."""
    storage, span = lowering.storage, variable.span
    if variable.kind == "buffer":
        if variable.written:
            start = lowering.emit(span, "addr", lowering.const(span, 0, I64), attrs={Attr.MEM: variable.name})
            lowering.set(storage.local(variable), start, span)
        return
    value = _argument(lowering, function, variable)
    if variable.written:
        place = Part(variable) if storage.apart(variable) else Address(storage.local(variable))
        lowering.store(place, value, variable.type, span)
    else:
        storage.bind_argument(variable, value)


def _argument(lowering: StatementLowering, function: Function, variable: tt.Variable):
    """The value of the parameter: that of a kernel comes from the host, with the bytes it has in memory."""
    t, span = variable.type, variable.span
    if function.kind == "kernel" and ct.aggregate(t):
        return lowering.chunks(span).unpacked(_new(function, variable.name, value_type(t)), leaves(t))
    passed = ct.UCHAR if t == ct.BOOL_T else ct.container(t)
    if function.kind == "kernel" and passed != t:
        return lowering.converted(span, _new(function, variable.name, ct.ir_type(passed)), passed, t)
    values = tuple(_new(function, variable.name, ct.ir_type(scalar)) for _, scalar in leaves(t))
    return values if several(t) else values[0]


def _new(function: Function, name: str, type) -> Value:
    value = Value(type, name, None, len(function.args))
    function.args.append(value)
    return value
