"""Checks a whole syntax tree; produces typed functions and constants."""

import re
from collections import Counter
from dataclasses import replace

from pycparser import c_ast

from ..diag import Code, CompileError, Diagnostic, Span
from ..ir import Attr
from . import tree as tt
from . import types as ct
from .attributes import CHANNEL, FUNCTION, HINTS, MEANT_FOR_OTHERS, check_function, settled
from .check_file_variables import used_program_variables
from .check_parameters import ParameterChecker, check_room
from .check_suspicious import unused_variables
from .entered import structured
from .flow import completes, stray_gotos
from .jumps import labels, labels_in_expressions
from .lexer import Attribute
from .old_style import complete_prototypes
from .parse import Syntax

__all__ = ["Program", "check"]

#: attributes that make a kernel a single work-item kernel, and the reason given for each
SINGLE_WORK_ITEM = ((Attr.TASK, "has the attribute task"), (Attr.AUTORUN, "autorun"))


class Program(ParameterChecker):
    """Checks a translation unit. ``functions`` are in the order of their definitions."""

    def __init__(self, syntax: Syntax, single_precision: bool, doubles: bool) -> None:
        super().__init__(syntax)
        self.single_precision, self.doubles = single_precision, doubles and not single_precision
        self.functions: list[tt.FunctionTree] = []
        #: definitions of the functions that a call may check again
        self._again: dict[tt.FunctionTree, c_ast.FuncDef] = {}
        #: attributes on prototypes before the definition
        self._prototypes: dict[tt.FunctionTree, list[Attribute]] = {}
        self._called: dict[tuple, tt.FunctionTree] = {}  #: the helper made for a function called with those channels

    def run(self) -> None:
        """Check every declaration in order. Functions are collected in this object, and all messages in
        ``diagnostics``."""
        pending = []
        for error in complete_prototypes(self.syntax):
            with self.recover():
                raise error
        for node in self.syntax.tree.ext:
            with self.recover():
                if isinstance(node, c_ast.Pragma):
                    pending += self.pragma(node)
                elif isinstance(node, c_ast.FuncDef):
                    self._definition(node)
                elif isinstance(node, c_ast.Typedef):
                    self._stmt_typedef(node)
                elif isinstance(node, c_ast.Decl):
                    self._file_declaration(node)
                else:
                    raise CompileError.at(self.span(node), "this cannot stand at file scope", code=Code.BAD_DECLARATION)
        self.unattached(pending)
        self._check_calls()
        self._attributes_of_nothing()
        if not self.errors:  # a name in what was left out after an error may be a use
            unused_variables(self, self.locals, self._used())

    def _used(self) -> set[object]:
        """The meanings of the names that stand somewhere besides their declaration."""
        counted = Counter(meaning for _, _, meaning in self.name_uses)
        return {meaning for meaning, count in counted.items() if count > 1}

    # -- file scope

    def _file_declaration(self, node) -> None:
        span = self.name_span(node)
        if node.name is None:
            self.base(node.type, span)
        elif isinstance(node.type, c_ast.FuncDecl):
            with self.poisoning(node.name):
                function = self._function(node)
            if function.body is None:
                self._prototypes.setdefault(function, []).extend(self.attributes(node))
            else:
                self._function_attributes(function, self.attributes(node))
        else:
            with self.poisoning(node.name):
                if "channel" in node.quals or "pipe" in node.quals:
                    values, _ = self.read_attributes(self.variable_attributes(node), CHANNEL)
                    self.channels.append(self.channel(node, values, span))
                    self.add(str(node.name), self.channels[-1], span)
                else:
                    self.file_variable(node, span)

    # -- functions

    def _function(self, node) -> tt.FunctionTree:
        """The function that a prototype or definition declares."""
        span = self.name_span(node)
        known = self.here(str(node.name))
        kernel = "__kernel" in node.funcspec
        result = self.declared(node.type.type, span).type
        self.complete(result, span, f"the result of '{node.name}'")
        if isinstance(result, ct.Array):
            raise CompileError.at(
                span,
                "a function cannot return an array",
                "put it into a struct, or pass a pointer to it",
                code=Code.BAD_DECLARATION,
            )
        if kernel and not isinstance(result, ct.Void):
            raise CompileError.at(
                span,
                f"the kernel '{node.name}' must return void",
                "store the result into a buffer",
                code=Code.KERNEL_SIGNATURE,
            )
        parameters, written, broken = self.parameters_of(node.type, kernel)
        if kernel:
            check_room(str(node.name), parameters)
        tree = tt.FunctionTree(str(node.name), kernel, result, parameters, span, broken=broken, written_types=written)
        if known is None:
            self.add(tree.name, tree, span)
            return tree
        if not isinstance(known, tt.FunctionTree):
            self.add(tree.name, tree, span)
            return tree  # a declaration of this name had an error, which has been reported
        if not known.broken and not broken:
            self._check_same(known, tree)
        self.occurs(tree.name, known, span)
        known.broken += broken
        known.parameters, known.written_types = (
            (parameters, written) if known.body is None else (known.parameters, known.written_types)
        )
        return known

    def _check_same(self, known: tt.FunctionTree, tree: tt.FunctionTree):
        types = [[(p.type, getattr(p, "lengths", None)) for p in f.parameters] for f in (known, tree)]
        if types[0] != types[1] or (known.kernel, known.result) != (tree.kernel, tree.result):
            note = Diagnostic("the first declaration is here", known.span, severity="note")
            self.poison(tree.name)
            raise CompileError(
                Diagnostic(
                    f"'{tree.name}' is declared with other types before",
                    tree.span,
                    "make both the same, or name one differently: C has one function of a name",
                    notes=(note,),
                    code=Code.DEFINED_TWICE,
                )
            )

    def _definition(self, node):
        if not isinstance(node.decl.type, c_ast.FuncDecl):
            raise CompileError.at(self.span(node), "this is not a function", code=Code.UNKNOWN_FUNCTION)
        with self.poisoning(node.decl.name):
            function = self._function(node.decl)
        if function.body is not None:
            note = Diagnostic("the first one is here", function.span, severity="note")
            raise CompileError(
                Diagnostic(
                    f"'{function.name}' is defined twice",
                    self.name_span(node.decl),
                    notes=(note,),
                    code=Code.DEFINED_TWICE,
                )
            )
        function.span = self.name_span(node.decl)
        self._function_attributes(function, [*self._prototypes.get(function, ()), *self.attributes(node.decl)])
        if function.kernel or function.takes_channels:
            self._again[function] = node
        if not self.contract:
            function.attrs[Attr.FP_CONTRACT] = False
        self._check_body(function, node, function.parameters)
        if not function.takes_channels:
            self.functions.append(function)

    def called(self, function: tt.FunctionTree, channels: tuple[tt.Channel, ...], span: Span) -> tt.FunctionTree:
        """The helper that a call of a kernel, or of a function that takes channels, calls: its body checked again, with
        pointers as values and with those channels for its parameters, whose numbers the calls pass."""
        if function not in self._again:
            kind = "kernel" if function.kernel else "function"
            raise CompileError.at(
                span,
                f"the {kind} '{function.name}' is called before it is defined",
                "move its definition up",
                code=Code.NOT_DEFINED,
            )
        key = (function, *channels)
        if key not in self._called:
            node, outer = self._again[function], (self.function, self._stack, self._structs, self._enums)
            self._stack, self._structs, self._enums = self._stack[:1], {}, set()  # types in its body are declared again
            parameters, written, broken = self.parameters_of(node.decl.type, False)
            given = iter(channels)
            meanings = [_given(p, next(given)) if isinstance(p, tt.Channel) else p for p in parameters]
            numbers = [p.first if isinstance(p, tt.Channel) else p for p in meanings]
            name = f"{function.name}__called{len(self._called)}"
            self._called[key] = tree = tt.FunctionTree(
                name, False, function.result, numbers, function.span, broken=broken, written_types=written
            )
            tree.attrs |= {name: value for name, value in function.attrs.items() if name == Attr.FP_CONTRACT}
            try:
                self._check_body(tree, node, meanings)
            finally:
                self.function, self._stack, self._structs, self._enums = outer
            self.functions.append(tree)
        return self._called[key]

    def _check_body(self, function: tt.FunctionTree, node, meanings: list[tt.Variable | tt.Channel]) -> None:
        """Check a body; ``meanings`` are the variables and channels that its parameter names refer to."""
        self.function = function
        function.body = tt.Block(function.span, ())  # set first: a call inside it is recursion
        with self.scope():
            for parameter in meanings:
                with self.recover():
                    self.add(parameter.name, parameter, parameter.span)
            for name in function.broken:
                self.poison(name)
            function.body = tt.Block(self.span(node.body), tuple(self.statements(node.body.block_items or [])))
        self.function = None
        self._check_jumps(function)
        # what was left out after an error may be the return
        if not self.errors and not isinstance(function.result, ct.Void) and completes(function.body):
            self.warn(
                function.span,
                f"'{_source_name(function)}' may end without returning a value",
                "add a return at its end",
                code=Code.MAY_NOT_RETURN,
            )

    def _check_jumps(self, function: tt.FunctionTree) -> None:
        with self.recover():
            known, hidden = labels(function.body), labels_in_expressions(function.body)
            function.body = structured(function.body)
            for stray in stray_gotos(function.body):
                if stray.name not in known | hidden:
                    self.diagnostics.append(
                        Diagnostic(
                            f"there is no label '{stray.name}' in this function",
                            stray.span,
                            self.closest(stray.name, known) or f"write {stray.name}: in front of a statement",
                            code=Code.JUMP,
                        )
                    )
                    continue
                note = Diagnostic("the label is here", (known | hidden)[stray.name], severity="note")
                self.diagnostics.append(
                    Diagnostic(
                        f"goto {stray.name} leads into '({{ ... }})'",
                        stray.span,
                        "move the label out of it",
                        notes=(note,),
                        code=Code.JUMP,
                    )
                )

    def _function_attributes(self, function: tt.FunctionTree, found: list[Attribute]) -> None:
        attrs, spans = self.read_attributes(found, FUNCTION)
        if not function.kernel:
            for attribute in found:
                if attribute.name in FUNCTION:
                    self.warn(
                        attribute.span,
                        f"the attribute '{attribute.name}' of '{function.name}' is ignored: it is no kernel",
                        "give it to the kernels that call it",
                        code=Code.ATTRIBUTE_IGNORED,
                    )
            return
        attrs = settled(attrs)
        function.attrs |= attrs
        hints = [one for one in found if one.name in HINTS]
        if hints:
            function.attrs[Attr.HINTS] = tuple(one.text for one in hints)
        for one in hints:
            self.warn(
                one.span,
                f"the attribute '{one.name}' of '{function.name}' has no effect",
                HINTS[one.name],
                code=Code.ATTRIBUTE_NO_EFFECT,
            )
        with self.recover():
            check_function(attrs, spans, len(function.parameters))

    def _attributes_of_nothing(self) -> None:
        """Warn of attributes that were never read: they have no meaning where they are written."""
        for attribute in self.syntax.attributes:
            if attribute not in self.looked_at and attribute.name not in MEANT_FOR_OTHERS:
                self.warn(
                    attribute.span,
                    f"the attribute '{attribute.name}' is ignored here",
                    "write it at a kernel, a variable, an argument, a struct or a loop",
                    code=Code.ATTRIBUTE_IGNORED,
                )

    # -- the program as a whole

    def _check_calls(self):
        for constant, span in self.externals.items():
            if span is not None:
                self._undefined(
                    span,
                    f"'{constant.name}' is declared extern, but not defined",
                    "write its definition in this file or include it",
                )
        for function in self.functions:
            for callee, span in function.calls.items():
                if callee.body is None:
                    self._undefined(
                        span,
                        f"'{callee.name}' is declared but not defined",
                        "write its body in this file or include it",
                    )
        self.functions = self._callees_first()
        used_program_variables(self.functions)
        for function in self.functions:
            with self.recover():
                self._check_program_variables(function)
            for callee in function.calls:
                function.work_items = {**callee.work_items, **function.work_items}
            if function.kernel:
                function.attrs[Attr.NDRANGE], function.attrs[Attr.REASON] = _kind(function)

    def _check_program_variables(self, function: tt.FunctionTree) -> None:
        """Raise CompileError for a kernel that cannot take the buffers of the variables it uses."""
        if not function.kernel or not function.program_variables:
            return
        variable = next(iter(function.program_variables))
        if function.attrs.get(Attr.AUTORUN):
            raise CompileError.at(
                function.span,
                f"the autorun kernel '{function.name}' uses '{variable.name}' (line {variable.span.line}), which is in "
                "global memory, and it has no arguments to find that by",
                "keep the value in a variable of the kernel, send it over a channel, or remove autorun",
                code=Code.KERNEL_SIGNATURE,
            )
        check_room(function.name, function.parameters, tuple(function.program_variables))

    def _undefined(self, span: Span, message: str, hint: str) -> None:
        with self.recover():
            raise CompileError.at(span, message, hint, code=Code.NOT_DEFINED)

    def _callees_first(self) -> list[tt.FunctionTree]:
        """Callees before callers; recursion is reported at the call that closes the cycle."""
        done: dict[tt.FunctionTree, None] = {}
        path: list[tt.FunctionTree] = []

        def visit(function):
            path.append(function)
            for callee, span in function.calls.items():
                if callee in path:
                    names = " -> ".join(_source_name(f) for f in [*path[path.index(callee) :], callee])
                    with self.recover():
                        raise CompileError.at(
                            span,
                            f"recursion is not supported: {names}",
                            "use a loop, with an array as its stack where one is needed",
                            code=Code.RECURSION,
                        )
                elif callee not in done and callee.body is not None:
                    visit(callee)
            path.pop()
            done[function] = None

        for function in self.functions:
            if function not in done:
                visit(function)
        return list(done)


def check(syntax: Syntax, single_precision: bool = False, doubles: bool = False) -> Program:
    """Check the tree; the program's ``diagnostics`` hold what was found. Never raises for errors in the source.

    With ``doubles``, an unsuffixed floating constant is a double, unless ``single_precision`` is set.
    """
    program = Program(syntax, single_precision, doubles)
    program.run()
    return program


def _kind(function: tt.FunctionTree) -> tuple[bool, str]:
    """Whether the kernel is an NDRange kernel, and why."""
    attrs = function.attrs
    if attrs.get(Attr.WORK_GROUP_SIZE) == (1, 1, 1):
        return False, "reqd_work_group_size is (1, 1, 1)"
    for name, said in SINGLE_WORK_ITEM:
        if name in attrs:
            return False, said
    if attrs.get(Attr.MAX_GLOBAL_WORK_DIM) == 0:
        return False, "max_global_work_dim is 0"
    for call, span in function.work_items.values():
        return True, f"calls {call} at line {span.line}"
    if Attr.WORK_GROUP_SIZE in attrs:
        return True, f"reqd_work_group_size is {attrs[Attr.WORK_GROUP_SIZE]}"
    return False, "calls no work-item function"


def _given(parameter: tt.Channel, channel: tt.Channel) -> tt.Channel:
    """The parameter as bound to ``channel``, whose number is passed in a variable."""
    first = tt.Variable(parameter.name, ct.LONG, "channel", parameter.span, True)
    return replace(parameter, attrs=channel.attrs, parameter=False, whole=channel, first=first)


def _source_name(function: tt.FunctionTree) -> str:
    return re.sub(r"__called\d+$", "", function.name)
