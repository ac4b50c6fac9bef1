"""Variables outside of functions, and static ones inside: constants, and variables that last as long as the program.

A variable that a program may change is a buffer that the host's runtime allocates with the program, and passes to each
kernel that uses it as an argument behind those of the source.
"""

from collections.abc import Sequence

from pycparser import c_ast

from ..diag import Code, CompileError, Diagnostic, Span
from . import tree as tt
from . import types as ct
from .attributes import ARGUMENT, MEMORY
from .check_declarations import DeclarationChecker
from .evaluate import constant, constant_data
from .layout import has_pointer
from .parse import Syntax

__all__ = ["FileVariableChecker"]


class FileVariableChecker(DeclarationChecker):
    """Adds variables that last. ``constants`` collects those whose values never change, and ``program_variables`` the
    others; both also those that are declared in functions."""

    def __init__(self, syntax: Syntax) -> None:
        super().__init__(syntax)
        self.constants: list[tt.Variable] = []
        self.program_variables: list[tt.Variable] = []
        self._valued: set[tt.Variable] = set()  #: variables of the program with a value of their own
        #: by their declarations: a function that is checked again, for other channels, keeps its static variables
        self._static: dict[c_ast.Decl, tt.Variable] = {}

    def file_variable(self, node: c_ast.Decl, span: Span) -> None:
        """A variable outside of functions."""
        declared = self.declared(node.type, span)
        elsewhere = "extern" in node.storage and node.init is None
        self._check_file_variable(node, declared, span)
        if _changes(node, declared):
            self.program_variable(node, declared, span)
            return
        if declared.space is None and not declared.const:
            self.warn(
                span,
                f"the file-scope variable '{node.name}' is treated as __constant",
                "write __constant before its type, or __global if kernels write to it",
                code=Code.TAKEN_AS_CONSTANT,
            )
        if elsewhere:
            self.external(str(node.name), declared, span)
        else:
            self.file_constant(node, declared, span)

    def static_variable(self, node: c_ast.Decl, declared: ct.Qualified, span: Span) -> None:
        """A static variable, or a constant, of a function: it lasts as one outside does."""
        self._check_file_variable(node, declared, span)
        if node in self._static:
            self.add(str(node.name), self._static[node], span)
        elif declared.space != "constant" and not declared.const:
            self._static[node] = self.program_variable(node, declared, span)
        else:
            self.file_constant(node, declared, span)

    def _check_file_variable(self, node: c_ast.Decl, declared: ct.Qualified, span: Span) -> None:
        """Raise CompileError for a variable that lasts in memory that does not, of no type, or of pointers."""
        inner = declared.type
        while isinstance(inner, ct.Array):
            inner = inner.element
        if declared.space in ("local", "private"):
            raise CompileError.at(
                span,
                f"the file-scope variable '{node.name}' cannot be in __{declared.space} memory",
                "write __global before its type, or __constant if its value never changes; or declare it in a kernel",
                code=Code.ADDRESS_SPACE,
            )
        if isinstance(inner, ct.Void):
            raise CompileError.at(span, "a variable cannot be void", code=Code.BAD_DECLARATION)
        self.check_no_event(declared.type, f"'{node.name}', a variable of the whole program,", span)
        if isinstance(inner, ct.Pointer) or has_pointer(inner):
            raise CompileError.at(
                span,
                f"the file-scope variable '{node.name}' cannot hold a pointer",
                "declare the array itself at file scope, or keep an index in place of the pointer",
                code=Code.ADDRESS_SPACE,
            )

    # -- variables that kernels may change

    def program_variable(self, node: c_ast.Decl, declared: ct.Qualified, span: Span) -> tt.Variable:
        """A variable in global memory, with its first value: 0 where the program gives none."""
        t = self._whole_type(node, declared, f"the variable '{node.name}'", span)
        attrs, places = self.memory_attributes(node, ARGUMENT)
        variable = tt.Variable(
            str(node.name),
            t,
            "program",
            span,
            declared.const,
            declared.volatile,
            data=self._data(node, t).rstrip(b"\0") if node.init is not None else b"",
            attrs=attrs,
            attr_spans=places,
        )
        if "extern" in node.storage and node.init is None:
            return self._declared_elsewhere(variable)
        known = self.here(variable.name)
        if self.function is None and known in self.program_variables and not (node.init and known in self._valued):
            variable = self._defined_again(known, variable)
        else:
            variable = self._file_scoped(variable, span)
            self.program_variables.append(variable)
        if node.init is not None:
            self._valued.add(variable)
        return variable

    def _defined_again(self, known: tt.Variable, variable: tt.Variable) -> tt.Variable:
        """A variable of the file that is there already, where at most one of both has a value (C99 6.9.2): they are
        one."""
        self._check_same_variable(known, variable)
        self.occurs(known.name, known, variable.span)
        known.data = known.data or variable.data
        known.attrs |= variable.attrs
        known.attr_spans |= variable.attr_spans
        return known

    def _file_scoped(self, variable: tt.Variable, span: Span) -> tt.Variable:
        """The variable in the scope of the file: that of an earlier `extern` declaration, completed, or this one."""
        known = self.here(variable.name)
        if isinstance(known, tt.Variable) and known in self.externals:
            self._defined(known, variable)
            return known
        self.add(variable.name, variable, span)
        return variable

    # -- constants

    def file_constant(self, node: c_ast.Decl, declared: ct.Qualified, span: Span) -> None:
        """A constant with its data."""
        if node.init is None:
            raise CompileError.at(
                span, f"the constant '{node.name}' has no value", "initialize it", code=Code.CONSTANT_NEEDED
            )
        t = self._whole_type(node, declared, f"the constant '{node.name}'", span)
        data = self._data(node, t)
        value = constant(self._values(node.init, t)[0][1]) if ct.arithmetic(t) else None
        self._table_attributes(node)
        variable = tt.Variable(
            str(node.name), t, "constant", span, const=True, data=data, value=value, space=_space_of(declared)
        )
        variable = self._file_scoped(variable, span)
        self.constants.append(variable)

    def external(self, name: str, declared: ct.Qualified, span: Span) -> None:
        """A constant whose definition stands elsewhere: before, behind, or in a program that is linked with this."""
        self._declared_elsewhere(
            tt.Variable(name, declared.type, "constant", span, const=True, space=_space_of(declared))
        )

    # -- both

    def _whole_type(self, node: c_ast.Decl, declared: ct.Qualified, what: str, span: Span) -> ct.CType:
        """The type, with the length that the values of an array give."""
        t = declared.type
        self.complete(t, span, what)
        if isinstance(t, ct.Array) and t.length == 0 and not ("extern" in node.storage and node.init is None):
            return self.sized(t, node, span)
        return t

    def _data(self, node: c_ast.Decl, t: ct.CType) -> bytes:
        """The bytes of the initial value."""
        try:
            return constant_data(t, self._values(node.init, t))
        except ValueError as error:
            raise CompileError.at(
                error.args[0].span,
                f"the value of '{node.name}' must be constant",
                "give it a number, or let a kernel store the value",
                code=Code.CONSTANT_NEEDED,
            ) from None

    def _declared_elsewhere(self, variable: tt.Variable) -> tt.Variable:
        """A variable whose definition is not here; the one that is known already, if there is one."""
        known = self.here(variable.name)
        if isinstance(known, tt.Variable):
            self._check_same_variable(known, variable)
            self.occurs(variable.name, known, variable.span)
            return known
        self.add(variable.name, variable, variable.span)
        self.externals[variable] = None
        return variable

    def _defined(self, known: tt.Variable, variable: tt.Variable) -> None:
        """The definition of a variable that was declared extern before."""
        self._check_same_variable(known, variable)
        del self.externals[known]
        self.occurs(known.name, known, variable.span)
        for name in ("type", "span", "data", "value", "attrs", "attr_spans"):
            setattr(known, name, getattr(variable, name))

    def _check_same_variable(self, known: tt.Variable, variable: tt.Variable) -> None:
        """Raise CompileError if a variable is declared otherwise than before; an array may lack its length."""
        one, other = known.type, variable.type
        same = one == other
        if isinstance(one, ct.Array) and isinstance(other, ct.Array) and 0 in (one.length, other.length):
            same = one.element == other.element
        if same and _qualifiers(known) == _qualifiers(variable):
            return
        note = Diagnostic("the first declaration is here", known.span, severity="note")
        what = "type" if not same else "qualifiers"
        raise CompileError(
            Diagnostic(
                f"'{known.name}' is declared with {'another' if not same else 'other'} {what} before",
                variable.span,
                "make both the same",
                notes=(note,),
                code=Code.DEFINED_TWICE,
            )
        )

    def _table_attributes(self, node: c_ast.Decl) -> None:
        """Warn of attributes that shape memories: a constant table has no stores, and a port for each read."""
        found = self.attributes(node)
        self.read_attributes(found, MEMORY)
        for attribute in found:
            if attribute.name in MEMORY and attribute.name != "aligned":
                self.warn(
                    attribute.span,
                    f"the attribute '{attribute.name}' of the table '{node.name}' is ignored",
                    "declare it without const in a kernel, if it should be a memory of this shape",
                    code=Code.ATTRIBUTE_IGNORED,
                )


def used_program_variables(functions: Sequence[tt.FunctionTree]) -> None:
    """Let each function know the variables that it reaches through its calls; callees come before callers."""
    for function in functions:
        for callee in function.calls:
            function.program_variables |= dict.fromkeys(callee.program_variables)


def _changes(node: c_ast.Decl, declared: ct.Qualified) -> bool:
    """Whether a variable outside of functions may change: one in global memory, and one without an address space that
    has no value. Other compilers for these devices make a table of one with a value, and so do existing programs."""
    if declared.space is None:
        return not declared.const and node.init is None and "extern" not in node.storage
    fixed = declared.const and not declared.volatile and (node.init is not None or "extern" in node.storage)
    return declared.space == "global" and not fixed


def _qualifiers(variable: tt.Variable) -> tuple[object, ...]:
    return variable.kind, variable.space, variable.const, variable.volatile


def _space_of(declared: ct.Qualified) -> str:
    """The address space of pointers to a constant."""
    return declared.space or "constant"
