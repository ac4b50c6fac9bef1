"""Explains in terms of the source why something cannot be written."""

from . import tree as tt

__all__ = ["hint", "reason"]


def reason(e: tt.LValue) -> tuple[str, str]:
    """(what is wrong, what to do) for a write to an lvalue that is const or in constant memory."""
    root = tt.root_of(e)
    variable = root.variable if isinstance(root, tt.VariableRef) else _pointed_by(root)
    if variable is None:
        return "this element is const", hint(root)
    if variable.kind == "constant":
        return f"'{variable.name}' is in constant memory", _constant(variable)
    if isinstance(root, tt.VariableRef) or not _is_pointer(variable):
        return (
            f"'{variable.name}' is const",
            f"it is declared const at line {variable.span.line}: declare it without, or write into another variable",
        )
    constant = variable.type.space == "constant"
    return f"'{variable.name}' points to {'__constant memory' if constant else 'const'}", hint(root)


def hint(place: tt.Expr) -> str:
    """The remedy that makes a write through a pointer, or to its target, possible."""
    variable = _pointed_by(place)
    if variable is None:
        return "write through a pointer whose type has no const"
    if variable.kind == "constant":
        return _constant(variable)
    if not _is_pointer(variable):
        return f"'{variable.name}' is declared const at line {variable.span.line}: declare it without"
    if variable.type.space == "constant":
        return f"declare '{variable.name}' (line {variable.span.line}) __global instead of __constant"
    if variable.type.const:
        return f"declare '{variable.name}' (line {variable.span.line}) without const"
    return "write through a pointer whose type has no const"


def _constant(variable: tt.Variable) -> str:
    return (
        f"its values (line {variable.span.line}) are fixed when the kernel is compiled: copy them into an array "
        "of the kernel, or declare it __global"
    )


def _is_pointer(variable: tt.Variable) -> bool:
    return hasattr(variable.type, "pointee")


def _pointed_by(e: tt.Expr) -> tt.Variable | None:
    """The variable that names a pointer, or its target."""
    while not isinstance(e, tt.VariableRef):
        if isinstance(e, tt.Dereference | tt.PointerAdd):
            e = e.pointer
        elif isinstance(e, tt.Convert) and e.type.const <= getattr(e.operand.type, "const", False):
            # otherwise the cast adds const
            e = e.operand
        elif isinstance(e, tt.AddressOf | tt.Step):
            e = tt.root_of(e.target)
        else:
            return None
    return e.variable
