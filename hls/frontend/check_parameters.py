"""Checks the parameters of functions and kernels."""

from collections.abc import Sequence

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..limits import MOST_ARGUMENT_BYTES
from ..narrow import present
from . import tree as tt
from . import types as ct
from .attributes import ARGUMENT, CHANNEL, LOCAL_ARGUMENT
from .check_statements import StatementChecker
from .layout import has_pointer

__all__ = ["ParameterChecker", "check_room"]


class ParameterChecker(StatementChecker):
    """Declares the parameters of a function: values, buffers, pipes and channels."""

    def parameters_of(
        self, declarator: c_ast.FuncDecl, kernel: bool
    ) -> tuple[list[tt.Variable | tt.Channel], list[str], list[str]]:
        """The parameters of a function, their types as written, and the names of those with errors, which are
        reported."""
        parameters: list[tt.Variable | tt.Channel] = []
        written: list[str] = []
        broken: list[str] = []
        nodes = declarator.args.params if declarator.args else []
        if (
            len(nodes) == 1
            and isinstance(nodes[0], c_ast.Typename)
            and isinstance(self.declared(nodes[0], present(self.span(nodes[0]))).type, ct.Void)
        ):
            return [], [], []
        for k, node in enumerate(nodes):
            broken.append(str(getattr(node, "name", None) or f"unnamed{k}"))
            with self.recover():
                parameters.append(self._parameter(node, k, kernel))
                written.append(_written_type(node))
                broken.pop()
        return parameters, written, broken

    def _parameter(self, node: c_ast.Node, k: int, kernel: bool) -> tt.Variable | tt.Channel:
        if isinstance(node, c_ast.EllipsisParam):
            raise CompileError.at(
                self.span(node), "a variable number of arguments is not supported", code=Code.NOT_OPENCL
            )
        if isinstance(node, c_ast.ID):  # in the old style, before C89
            if kernel:
                raise CompileError.at(
                    self.span(node),
                    f"the parameter '{node.name}' has no type",
                    "write int before it, or what it is",
                    code=Code.BAD_DECLARATION,
                )
            self.warn(
                self.span(node),
                f"the parameter '{node.name}' has no type, and is treated as int",
                "write int before it",
                code=Code.IMPLICIT_INT,
            )
            return tt.Variable(str(node.name), ct.INT, "parameter", present(self.span(node)), False, False, attrs={})
        span = self.name_span(node)
        if "pipe" in node.quals or "channel" in node.quals:
            return self._pipe(node, span, kernel)
        words: Sequence[str] = ()
        if isinstance(node.type, c_ast.ArrayDecl):
            words = node.type.dim_quals or ()
            # an array parameter is a pointer: its first length has no meaning and may be another parameter
            node.type.dim = None
        declared = self.parameter_type(self.declared(node, span), words)
        t = declared.type
        self.complete(t, span, f"the parameter '{node.name}'")
        if isinstance(t, ct.Void):
            raise CompileError.at(span, "a parameter cannot be void", code=Code.BAD_DECLARATION)
        if isinstance(t, ct.Pointer) and declared.space == "local":
            raise CompileError.at(
                span,
                f"the parameter '{node.name}' itself cannot be in __local memory",
                "write __local before the '*'",
                code=Code.ADDRESS_SPACE,
            )
        if not isinstance(t, ct.Pointer) and declared.space not in (None, "private"):
            raise CompileError.at(
                span,
                f"a value cannot be in __{declared.space} memory",
                f"a buffer is a pointer: __{declared.space} {t} *{node.name or 'name'}",
                code=Code.ADDRESS_SPACE,
            )
        if kernel:
            self._check_kernel_parameter(t, span)
        name = str(node.name) if node.name else f"unnamed{k}"
        buffer = kernel and isinstance(t, ct.Pointer)
        local = isinstance(t, ct.Pointer) and t.space == "local"
        attrs, places = self.memory_attributes(node, LOCAL_ARGUMENT if local else ARGUMENT)
        return tt.Variable(
            name,
            t,
            "buffer" if buffer else "parameter",
            span,
            declared.const,
            declared.volatile,
            attrs=attrs,
            attr_spans=places,
        )

    def _pipe(self, node: c_ast.Decl, span: Span, kernel: bool) -> tt.Channel:
        """A pipe parameter of a kernel; a channel or pipe parameter of a helper."""
        if kernel and "channel" in node.quals:
            raise CompileError.at(
                span,
                "a kernel cannot take a channel",
                "use the channel by its name, or let the kernel take a pipe",
                code=Code.KERNEL_SIGNATURE,
            )
        if kernel:
            t = self.declared(node, span).type
            self.check_payload(t, span)
            values, _ = self.read_attributes(self.variable_attributes(node), CHANNEL)
            return tt.Channel(str(node.name), t, span, pipe=True, attrs=values)
        parameter = self.channel(node, {}, span)
        parameter.parameter = True
        return parameter

    def _check_kernel_parameter(self, t: ct.CType, span: Span) -> None:
        self.check_no_event(t, "a kernel's argument", span)
        if not isinstance(t, ct.Pointer):
            if has_pointer(t):
                raise CompileError.at(
                    span,
                    f"a kernel's argument of type '{t}' cannot hold a pointer",
                    "pass the buffer alone",
                    code=Code.KERNEL_SIGNATURE,
                )
            return
        if has_pointer(t.pointee):
            raise CompileError.at(
                span, "a buffer cannot hold pointers", "store an index into another buffer", code=Code.KERNEL_SIGNATURE
            )
        if t.space == "private":
            raise CompileError.at(
                span,
                "a kernel's pointer must say which memory it points to",
                f"write __global {t.pointee} *",
                code=Code.KERNEL_SIGNATURE,
            )


def check_room(
    kernel: str, parameters: Sequence[tt.Variable | tt.Channel], program_variables: Sequence[tt.Variable] = ()
) -> None:
    """Raise CompileError at the parameter, or the variable of the program, with which a kernel's arguments exceed the
    limit."""
    used = 0
    for parameter in (*parameters, *program_variables):
        if isinstance(parameter, tt.Variable):
            address = isinstance(parameter.type, ct.Pointer) or parameter.kind == "program"
            size = 8 if address else parameter.type.size
            used += -(-size // 8) * 8
            if used > MOST_ARGUMENT_BYTES:
                raise CompileError.at(
                    parameter.span,
                    f"with '{parameter.name}' the arguments of kernel {kernel} take {used:,} bytes; there is room for "
                    f"{MOST_ARGUMENT_BYTES:,}",
                    "pass large structs, and many numbers, in a __constant or __global buffer",
                    code=Code.KERNEL_SIGNATURE,
                )


def _written_type(node: c_ast.Node) -> str:
    """The type of a parameter as shown to a host programmer."""
    if isinstance(node, c_ast.ID):
        return "int"
    stars = ""
    inner = node.type
    while isinstance(inner, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        words = (inner.quals if isinstance(inner, c_ast.PtrDecl) else inner.dim_quals) or []
        stars += "*" + "".join(f" {q}" for q in words if q not in ("__attribute__", "static"))
        inner = inner.type
    first = [str(q) for q in inner.quals or [] if q != "__attribute__"]
    base = inner.type
    if isinstance(base, c_ast.IdentifierType):
        names = base.names
    else:
        kinds = {c_ast.Struct: "struct", c_ast.Union: "union"}
        names = [kinds[type(base)], base.name or "<without a name>"] if type(base) in kinds else ["int"]
    return " ".join([*first, *map(str, names)]) + (f" {stars}" if stars else "")
