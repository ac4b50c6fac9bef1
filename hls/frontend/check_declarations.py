"""Local declarations, and the attributes of variables."""

from collections.abc import Callable
from dataclasses import replace

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from . import tree as tt
from . import types as ct
from .attributes import MEANT_FOR_OTHERS, MEMORY, TYPE, Form, check_memory, owners, read
from .check_calls import CallChecker
from .check_structs import innermost
from .evaluate import constant
from .initializers import check_size, flatten
from .layout import has_pointer
from .lexer import Attribute
from .parse import Syntax
from .scope import TypeName
from .words import TYPE_WORDS

__all__ = ["DeclarationChecker"]


class DeclarationChecker(CallChecker):
    """Adds declarations. ``static_variable`` is defined by the checker of file-scope variables, a subclass."""

    static_variable: Callable[[c_ast.Decl, ct.Qualified, Span], None]

    def __init__(self, syntax: Syntax) -> None:
        super().__init__(syntax)
        self.locals: list[tt.Declare] = []  #: of variables in functions, but for those that may be unused

    def _stmt_typedef(self, node):
        span = self.name_span(node)
        with self.poisoning(node.name):
            declared = self.declared(node.type, span)
            if isinstance(declared.type, ct.Struct) and not declared.type.name:
                declared.type.name, declared.type.tagged = str(node.name), False  # its only name
            declared = self._typedef_attributes(node, declared, span)
            if node.name in TYPE_WORDS:
                self._check_again(node.name, declared, span)
                return []
            known = self.here(node.name)
            if not isinstance(known, TypeName) or known.meaning != declared:  # repeating the same typedef is allowed
                self.add(node.name, TypeName(declared, span), span)
        return []

    def _check_again(self, name: str, declared: ct.Qualified, span: Span):
        """Raises an error if a typedef gives a type of OpenCL C another meaning."""
        meant = self._word(name, span)
        if declared != meant:
            raise CompileError.at(
                span,
                f"'{name}' is a type of OpenCL C, to which this typedef gives another meaning",
                "remove the declaration, or use another name",
                code=Code.DEFINED_TWICE,
            )

    def _typedef_attributes(self, node, declared: ct.Qualified, span) -> ct.Qualified:
        """The type modified by the attributes of its typedef; they do not apply to the members of a struct."""
        for attribute in self.attributes(node):
            if attribute.name in ("aligned", "packed"):
                where = (
                    "right after its closing brace"
                    if isinstance(declared.type, ct.Struct)
                    else "to the variable or the struct"
                )
                self.warn(
                    attribute.span,
                    f"the attribute '{attribute.name}' of the name '{node.name}' is ignored",
                    f"give it {where}",
                    code=Code.ATTRIBUTE_IGNORED,
                )
        values, _ = self.read_attributes(
            [a for a in self.attributes(node) if a.name not in ("aligned", "packed")], TYPE
        )
        if "ap_int" not in values:
            return declared
        if not isinstance(declared.type, ct.Int) or declared.type == ct.BOOL_T:
            raise CompileError.at(
                span,
                f"ap_int works on int and unsigned int, not on '{declared.type}'",
                f"write typedef int __attribute__((__ap_int({values['ap_int']}))) {node.name};",
                code=Code.ATTRIBUTE_ARGUMENT,
            )
        return replace(declared, type=ct.exact(values["ap_int"], declared.type.signed))

    def _stmt_decllist(self, node):
        return [s for decl in node.decls for s in self._stmt_decl(decl)]

    def _stmt_funcdef(self, node):
        raise CompileError.at(
            self.span(node), "a function inside a function", "move it to file scope", code=Code.BAD_DECLARATION
        )

    def _stmt_decl(self, node):
        span = self.name_span(node)
        if node.name is None:
            self.base(node.type, span)
            return []
        with self.poisoning(node.name):
            return self._local(node, span)

    def name_span(self, node: c_ast.Node) -> Span:
        """The location of the declared name (a pointer's declarator begins at its star)."""
        inner = innermost(node)
        return self.span(inner if inner.coord else node)

    def _local(self, node, span):
        self.check_storage(node, span)
        declared = self.declared(node.type, span)
        lasting = declared.space == "constant" or "static" in node.storage
        if lasting and not (isinstance(declared.type, ct.Pointer) and "static" not in node.storage):
            self.static_variable(node, declared, span)
            return []
        self._check_variable(declared, span)
        t = declared.type
        self.complete(t, span, f"'{node.name}'")
        if isinstance(t, ct.Array) and t.length == 0:
            declared = replace(declared, type=self.sized(t, node, span))
            t = declared.type
        shared = declared.space == "local"
        if shared:
            self._check_shared(node, t, span)
        attrs, places = self.memory_attributes(node)
        variable = tt.Variable(
            str(node.name),
            t,
            "shared" if shared else "local",
            span,
            declared.const,
            declared.volatile,
            attrs=attrs,
            attr_spans=places,
        )
        self.add(variable.name, variable, span)
        initial = self._values(node.init, t) if node.init is not None else None
        if initial and variable.const and not variable.volatile and ct.arithmetic(t):
            variable.value = constant(initial[0][1])
        declaration = tt.Declare(span, variable, initial)
        if all(attribute.name != "unused" for attribute in self.variable_attributes(node)):
            self.locals.append(declaration)
        return [declaration]

    def _check_shared(self, node, t: ct.CType, span: Span) -> None:
        """Raises CompileError for a variable in local memory with an initial value, or with pointers that have no
        meaning to other work-items, or are members."""
        if node.init is not None:
            raise CompileError.at(
                span,
                f"'{node.name}' is in local memory, which has no initial value",
                "let the work-items store its values, then wait at a barrier",
                code=Code.ADDRESS_SPACE,
            )
        self.check_no_event(t, f"'{node.name}', which is in local memory,", span)
        inner = t
        while isinstance(inner, ct.Array):
            inner = inner.element
        if isinstance(inner, ct.Pointer) and inner.space == "private":
            raise CompileError.at(
                span,
                f"'{node.name}' is in local memory, and its pointers point to variables of one work-item, which others "
                "cannot reach",
                f"write the memory that they point to, as in __global {inner.pointee} *__local {node.name}",
                code=Code.ADDRESS_SPACE,
            )
        if isinstance(inner, ct.Struct) and has_pointer(inner):
            raise CompileError.at(
                span,
                f"'{node.name}' is in local memory, where a struct cannot have pointers",
                "keep its pointers in an array of their own, which may be in local memory",
                code=Code.ADDRESS_SPACE,
            )

    def read_attributes(self, found: list[Attribute], forms: dict[str, Form]) -> tuple[dict, dict]:
        """(values, locations) of attributes by their names in the IR; warns of unknown ones."""
        values, spans = {}, {}
        for attribute in found:
            with self.recover():
                form = forms.get(attribute.name)
                if form is not None:
                    value, name = read(self, attribute, form), form.name or attribute.name
                    if name in values and values[name] != value:
                        raise CompileError.at(
                            attribute.span,
                            f"{name} is given twice, and differently",
                            f"keep that of line {spans[name].line}, or this one",
                            code=Code.ATTRIBUTES_CONTRADICT,
                        )
                    if form.kept:
                        values[name], spans[name] = value, attribute.span
                elif attribute.name not in MEANT_FOR_OTHERS:
                    whose = owners(attribute.name)
                    self.warn(
                        attribute.span,
                        f"the attribute '{attribute.name}' is ignored here"
                        if whose
                        else f"unknown attribute '{attribute.name}' is ignored",
                        f"it is one of {whose}" if whose else self.closest(attribute.name, forms),
                        code=Code.ATTRIBUTE_IGNORED,
                    )
        return values, spans

    def memory_attributes(self, node: c_ast.Node, forms: dict[str, Form] = MEMORY) -> tuple[dict, dict]:
        """(values, locations) of the attributes of a variable or argument, as in the IR."""
        values, spans = self.read_attributes(self.variable_attributes(node), forms)
        with self.recover():
            check_memory(values, spans)
        return values, spans

    def check_storage(self, node: c_ast.Node, span: Span) -> None:
        """Raise CompileError for what a function cannot declare: extern variables, and functions."""
        if "extern" in node.storage:
            raise CompileError.at(
                span,
                "an extern variable in a function is not supported",
                "declare it at file scope",
                code=Code.BAD_DECLARATION,
            )
        if isinstance(node.type, c_ast.FuncDecl):
            raise CompileError.at(
                span, "a function cannot be declared here", "declare it at file scope", code=Code.BAD_DECLARATION
            )

    def _check_variable(self, declared: ct.Qualified, span):
        if declared.space == "global":
            raise CompileError.at(
                span,
                "a variable in a function cannot be __global, unless it is static",
                "write static before it to keep it for all launches, or pass a buffer as an argument",
                code=Code.ADDRESS_SPACE,
            )
        if isinstance(declared.type, ct.Void):
            raise CompileError.at(span, "a variable cannot be void", code=Code.BAD_DECLARATION)

    @property
    def here_span(self) -> Span:
        """The location to report where an initializer is empty."""
        return self.function.span if self.function else Span("", 1)

    def _values(self, init, t: ct.CType) -> tuple[tuple[int, tt.Expr], ...]:
        """(number of the first scalar, value) of an initializer."""
        if isinstance(t, ct.Array):
            check_size(t.size, self.span(init))
        if isinstance(init, c_ast.InitList) or not isinstance(t, ct.Struct | ct.Vector):
            return tuple(flatten(self, t, init))
        return ((0, self.assignable(self.rvalue(init), t, "the initial value")),)
