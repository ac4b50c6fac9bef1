"""A checked program to an IR module."""

from ..ir import I64, Function, Module, Parameter, Value
from . import tree as tt
from . import types as ct
from .lower_statements import StatementLowering
from .storage import Storage, unique

__all__ = ["lower"]


def lower(functions: list[tt.FunctionTree], constants: list[tt.Variable], sources: dict[str, str]) -> Module:
    """Lower every function; callees stand before their callers. Cannot fail on a checked program."""
    # a kernel's buffer keeps its name, also in a kernel into which a user of the constant is inlined
    taken = {p.name for f in functions for p in f.parameters}
    names: dict[tt.Variable, str] = {}
    for constant in constants:
        names[constant] = unique(constant.name, taken)
        taken.add(names[constant])
    return Module({f.name: _function(f, names) for f in functions}, dict(sources))


def _function(tree: tt.FunctionTree, constants: dict[tt.Variable, str]) -> Function:
    function = Function(tree.name, "kernel" if tree.kernel else "helper", attrs=dict(tree.attrs), span=tree.span)
    storage = Storage(function, constants)
    for variable, written in zip(tree.parameters, tree.written_types):
        if tree.kernel:
            function.params.append(_parameter(variable, written))
        if variable.kind == "buffer":
            storage.bind_buffer(variable)
    lowering = StatementLowering(storage, function.body, tree.result)
    for variable in tree.parameters:
        _bind(lowering, function, variable)
    lowering.function(tree.body, tree.span)
    return function


def _parameter(variable: tt.Variable, written: str) -> Parameter:
    kind = "buffer" if variable.kind == "buffer" else "scalar"
    return Parameter(variable.name, kind, written, variable.type.size, variable.span)


def _bind(lowering: StatementLowering, function: Function, variable: tt.Variable):
    """Give the parameter its argument, and a variable of its own where the function changes it."""
    storage, span = lowering.storage, variable.span
    if variable.kind == "buffer":
        if variable.written:
            start = lowering.emit(span, "addr", lowering.const(span, 0, I64), attrs={"mem": variable.name})
            lowering.set(storage.local(variable), start, span)
        return
    host_bool = function.kind == "kernel" and variable.type == ct.BOOL_T
    type = ct.ir_type(ct.UCHAR if host_bool else variable.type)
    value = Value(type, variable.name, None, len(function.args))
    function.args.append(value)
    if host_bool:
        value = lowering.converted(span, value, ct.UCHAR, ct.BOOL_T)
    if variable.written:
        lowering.set(storage.local(variable), value, span)
    else:
        storage.bind_argument(variable, value)
