"""Local declarations, file-scope constants, and the attributes of both."""

from dataclasses import replace

from pycparser import c_ast

from ..diag import CompileError, Span
from . import tree as tt
from . import types as ct
from .check_calls import CallChecker
from .check_structs import innermost
from .evaluate import constant, constant_data
from .initializers import flatten
from .lexer import Attribute
from .pragmas import IGNORED_ATTRIBUTES, LATER_ATTRIBUTES
from .scope import TypeName

__all__ = ["DeclarationChecker"]


class DeclarationChecker(CallChecker):
    """Adds declarations. ``constants`` collects file-scope constants, and those declared in functions."""

    def __init__(self, syntax):
        super().__init__(syntax)
        self.constants: list[tt.Variable] = []

    def _stmt_typedef(self, node):
        span = self.name_span(node)
        with self.poisoning(node.name):
            self.add(node.name, TypeName(self.declared(node.type, span), span), span)
        return []

    def _stmt_decllist(self, node):
        return [s for decl in node.decls for s in self._stmt_decl(decl)]

    def _stmt_funcdef(self, node):
        raise CompileError.at(self.span(node), "a function inside a function", "move it to file scope")

    def _stmt_decl(self, node):
        span = self.name_span(node)
        if node.name is None:
            self.base(node.type, span)
            return []
        with self.poisoning(node.name):
            return self._local(node, span)

    def name_span(self, node) -> Span:
        """The place of the declared name (a pointer's declarator begins at its star)."""
        inner = innermost(node)
        return self.span(inner if inner.coord else node)

    def _local(self, node, span):
        self.check_storage(node, span)
        declared = self.declared(node.type, span)
        if declared.space == "constant" and not isinstance(declared.type, ct.Pointer):
            self.file_constant(node, declared, span)
            return []
        self._check_variable(declared, span)
        t = declared.type
        self.complete(t, span, f"'{node.name}'")
        if isinstance(t, ct.Array) and t.length == 0:
            declared = replace(declared, type=self.sized(t, node, span))
            t = declared.type
        for attribute in self.attributes(node):
            self.ignored_attribute(attribute)
        variable = tt.Variable(str(node.name), t, "local", span, declared.const, declared.volatile)
        self.add(variable.name, variable, span)
        initial = self._values(node.init, t) if node.init is not None else None
        return [tt.Declare(span, variable, initial)]

    def ignored_attribute(self, attribute: Attribute, known=()):
        if attribute.name in LATER_ATTRIBUTES:
            self.warn(attribute.span, f"the attribute '{attribute.name}' is not built yet: it is ignored")
        elif attribute.name not in IGNORED_ATTRIBUTES:
            hint = self.similar(attribute.name, (*known, *LATER_ATTRIBUTES))
            self.warn(attribute.span, f"unknown attribute '{attribute.name}' is ignored", hint)

    def check_storage(self, node, span):
        for word in node.storage:
            if word == "static":
                raise CompileError.at(span, "a static variable in a function is not supported",
                                      "declare a __constant table at file scope, or pass a __global buffer")
            if word == "extern":
                raise CompileError.at(span, "extern variables are not supported", "pass the value as an argument")
        if isinstance(node.type, c_ast.FuncDecl):
            raise CompileError.at(span, "a function cannot be declared here", "declare it at file scope")

    def _check_variable(self, declared: ct.Qualified, span):
        if declared.space == "local":
            raise CompileError.at(span, "local memory is not built yet", "use a private array or a __global buffer")
        if declared.space == "global":
            raise CompileError.at(span, "a variable in a function cannot be __global", "pass it as a buffer argument")
        if isinstance(declared.type, ct.Void):
            raise CompileError.at(span, "a variable cannot be void")

    @property
    def here_span(self) -> Span:
        """A place to blame where an initializer is empty."""
        return self.function.span if self.function else Span("", 1)

    def _values(self, init, t: ct.CType) -> tuple[tuple[int, tt.Expr], ...]:
        """(number of the first scalar, value) of an initializer."""
        if isinstance(init, c_ast.InitList) or not isinstance(t, ct.Struct | ct.Vector):
            return tuple(flatten(self, t, init))
        return ((0, self.assignable(self.rvalue(init), t, "the initial value")),)

    def file_constant(self, node, declared: ct.Qualified, span):
        """A __constant variable with its data."""
        t = declared.type
        if node.init is None:
            raise CompileError.at(span, f"the constant '{node.name}' has no value", "initialize it")
        self.complete(t, span, f"the constant '{node.name}'")
        if isinstance(t, ct.Array) and t.length == 0:
            t = self.sized(t, node, span)
        initial = self._values(node.init, t)
        try:
            data = constant_data(t, initial)
        except ValueError as error:
            raise CompileError.at(error.args[0].span, "the value of a constant must be constant") from None
        value = constant(initial[0][1]) if ct.arithmetic(t) else None
        variable = tt.Variable(str(node.name), t, "constant", span, const=True, data=data, value=value)
        self.add(variable.name, variable, span)
        self.constants.append(variable)
