"""Built-in functions of work-groups: barriers, fences, atomic operations, async copies; and printf."""

import re
from collections.abc import Callable, Sequence
from math import prod

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..ir.text import CONVERSION
from . import read_only
from . import tree as tt
from . import types as ct
from .check_math import PointerMathChecker
from .constants import unescaped

__all__ = ["GROUP_CALLS", "GroupCallChecker"]

_BARRIERS = ("barrier", "work_group_barrier")
_FENCES = {"mem_fence": "all", "read_mem_fence": "read", "write_mem_fence": "write"}
#: name of the operation -> (operation of the IR, number of operands; None: the constant 1)
_ATOMICS = {
    "add": ("add", 1),
    "sub": ("sub", 1),
    "xchg": ("xchg", 1),
    "inc": ("add", None),
    "dec": ("sub", None),
    "cmpxchg": ("cmpxchg", 2),
    "min": ("min", 1),
    "max": ("max", 1),
    "and": ("and", 1),
    "or": ("or", 1),
    "xor": ("xor", 1),
    "load": ("read", 0),
}
#: operations that take any 32 or 64 bits, also those of a number in floating point
_OF_BITS = {"xchg", "cmpxchg", "read"}
_LOAD = "__atom_load"  #: of the macros of OpenCL C 3.0
_ATOMIC = re.compile(r"(atomic|__atom|atom)_([a-z]+)$")
_COPIES = {"async_work_group_copy": 4, "async_work_group_strided_copy": 5}
#: the functions of this module by their usual names
GROUP_CALLS = (
    *(*_BARRIERS, *_FENCES, *_COPIES, "wait_group_events", "prefetch", "printf"),
    *(f"{prefix}_{name}" for prefix in ("atomic", "atom") for name in _ATOMICS if name != "load"),
)
_ANY_CONVERSION = re.compile(r"%[-+ #0]*\d*(?:\.\d*)?(?:v\d+)?(?:hh|hl|h|ll|l|j|z|t)?([a-zA-Z%])")
_VECTOR_CONVERSION = re.compile(r"%([-+ #0]*)(\d*)(\.\d*)?v(2|3|4|8|16)(hh|hl|h|l)?([diouxXfFeEgGaA])")

#: combinations of texts that ``?:`` selects in one call of printf, at most: each becomes a call of its own
MOST_COMBINATIONS = 64


class GroupCallChecker(PointerMathChecker):
    """Adds the functions with side effects."""

    def group_call(self, name: str, nodes: Sequence[c_ast.Node], span: Span) -> tt.Expr | None:
        """The call of such a function; None if ``name`` is not one."""
        if name in _BARRIERS:
            return self._barrier(name, nodes, span)
        if name in _FENCES:
            self.count(name, nodes, 1, span)
            return tt.Fence(ct.VOID, span, _FENCES[name], self._flags(nodes[0], name))
        if name in _COPIES:
            return self._copy(name, nodes, span)
        if name == "wait_group_events":
            self.count(name, nodes, 2, span)
            self.number(nodes[0], "the number of events")
            return self._meet(span, 3)
        if name == "prefetch":
            self.count(name, nodes, 2, span)
            return tt.Convert(ct.VOID, span, self.rvalue(nodes[1]))
        if name == "printf":
            return self._printf(nodes, span)
        match = _ATOMIC.match(name)
        if match is None or match.group(2) not in _ATOMICS or (name == _LOAD) != (match.group(2) == "load"):
            return None
        return self._atomic(match, name, nodes, span)

    def _barrier(self, name, nodes, span):
        if len(nodes) not in (1, 2):
            self.count(name, nodes, 1, span)
        return self._meet(span, self._flags(nodes[0], name))

    def _meet(self, span: Span, flags: int) -> tt.Barrier:
        if self.function is not None:
            self.function.asks("barrier", "barrier", span)
        return tt.Barrier(ct.VOID, span, flags)

    def _flags(self, node, name: str) -> int:
        flags = self.constant_int(node, f"the argument of {name}", "write CLK_LOCAL_MEM_FENCE or CLK_GLOBAL_MEM_FENCE")
        if not 0 <= flags < 8:
            raise CompileError.at(
                self.span(node),
                f"{name} does not take {flags}",
                "write CLK_LOCAL_MEM_FENCE, CLK_GLOBAL_MEM_FENCE, or both with |",
                code=Code.BUILTIN_ARGUMENTS,
            )
        return flags

    # -- atomic operations

    def _atomic(self, match, name, nodes, span):
        fn, count = _ATOMICS[match.group(2)]
        self.count(name, nodes, 1 + (count or 0), span)
        pointer = self.rvalue(nodes[0])
        t = pointer.type.pointee if isinstance(pointer.type, ct.Pointer) else None
        wide = match.group(1) != "atomic"
        fits = t in (ct.INT, ct.UINT) or (wide and t in (ct.LONG, ct.ULONG))
        fits |= fn in _OF_BITS and (t == ct.FLOAT or (wide and t == ct.DOUBLE))
        if not fits:
            kinds = "int, uint, long or ulong" if wide else "int or uint"
            raise CompileError.at(
                pointer.span,
                f"{name} takes a pointer to {kinds}, not '{pointer.type}'",
                "use atom_ for 64 bits" if t in (ct.LONG, ct.ULONG) else "",
                code=Code.BUILTIN_ARGUMENTS,
            )
        if pointer.type.space not in ("global", "local"):
            raise CompileError.at(
                pointer.span,
                f"{name} works on __global and __local memory, not __{pointer.type.space}",
                "write __global or __local before the type that it points to; a variable of one work-item needs no "
                "atomic operation",
                code=Code.ADDRESS_SPACE,
            )
        if pointer.type.const:
            raise CompileError.at(
                pointer.span, f"{name} writes through '{pointer.type}'", read_only.hint(pointer), code=Code.READ_ONLY
            )
        operands = [self.assignable(self.rvalue(n), t, f"an argument of {name}") for n in nodes[1:]]
        if count is None:
            operands = [tt.Const(t, span, 1)]
        if fn in ("min", "max"):
            fn = f"{'s' if t.signed else 'u'}{fn}"
        return tt.Atomic(t, span, fn, pointer, tuple(operands))

    # -- copies by the whole group

    def _copy(self, name, nodes, span):
        self.count(name, nodes, _COPIES[name], span)
        target, source = self.rvalue(nodes[0]), self.rvalue(nodes[1])
        for pointer, role in ((target, "first"), (source, "second")):
            if not isinstance(pointer.type, ct.Pointer) or pointer.type.space not in ("global", "local"):
                raise CompileError.at(
                    pointer.span,
                    f"the {role} argument of {name} must point to __global or __local memory, not '{pointer.type}'",
                    code=Code.ADDRESS_SPACE,
                )
        if target.type.pointee != source.type.pointee or target.type.space == source.type.space:
            raise CompileError.at(
                span,
                f"{name} copies between __global and __local memory of one type, not from "
                f"'{source.type}' to '{target.type}'",
                code=Code.ADDRESS_SPACE,
            )
        if target.type.const:
            raise CompileError.at(
                target.span, f"{name} writes through '{target.type}'", read_only.hint(target), code=Code.READ_ONLY
            )
        sizes = [self.assignable(self.rvalue(n), ct.ULONG, f"an argument of {name}") for n in nodes[2:-1]]
        self.number(nodes[-1], f"the event of {name}")
        one = tt.Const(ct.ULONG, span, 1)
        stride = sizes[1] if len(sizes) > 1 else one
        if self.function is not None:
            self.function.asks(name, "local_id", span)
        to_local = target.type.space == "local"
        return tt.AsyncCopy(
            ct.EVENT, span, target, source, sizes[0], one if to_local else stride, stride if to_local else one
        )

    # -- printf

    def _shown(self, text: c_ast.Node) -> str | None:
        """A string literal, or an array of characters in constant memory, as printf shows it: to its first 0. None for
        anything else."""
        if isinstance(text, c_ast.Constant) and text.type == "string":
            data = unescaped(text.value[1:-1], self.span(text))
        elif isinstance(text, c_ast.ID) and isinstance(known := self.find(str(text.name)), tt.Variable):
            if known.kind != "constant" or not known.data or not _is_text(known.type):
                return None
            self.occurs(known.name, known, self.span(text))
            data = known.data
        else:
            return None
        return data.partition(b"\0")[0].decode("utf-8", "replace")

    def _printf(self, nodes, span):
        text = nodes[0] if nodes else None
        if text is not None and _is_choice(text):
            return self._printf_of_choice(nodes, 0)
        said = None if text is None else self._shown(text)
        if text is None or said is None:
            raise CompileError.at(
                span,
                "printf needs a text in quotes as its first argument",
                'write printf("%d\\n", x)',
                code=Code.PRINTF,
            )
        chosen = next((k for k in _texts(said, nodes) if _is_choice(nodes[k])), None)
        if chosen is not None:
            return self._printf_of_choice(nodes, chosen)
        format, nodes = _with_texts(said, nodes, self._shown)
        format = _plain(format)
        kinds = [m.group(5) for m in CONVERSION.finditer(format) if m.group(5) != "%"]
        if re.search(r"%", CONVERSION.sub("", format)):
            raise CompileError.at(
                self.span(text),
                "this format has a '%' that begins no conversion",
                "write %% for a percent sign",
                code=Code.PRINTF,
            )
        arguments = [self._variadic(n) for n in nodes[1:]]
        lengths = [getattr(a.type, "length", 1) for a in arguments]
        shown = next((k for k in range(len(lengths) + 1) if sum(lengths[:k]) == len(kinds)), None)
        count = f"the format has {len(kinds)} conversion{'s' * (len(kinds) != 1)}, but there " + (
            "is 1 value" if sum(lengths) == 1 else f"are {sum(lengths)} values"
        )
        if shown is None:
            raise CompileError.at(span, count, "give one value for each conversion", code=Code.PRINTF)
        if shown < len(arguments):
            self.warn(span, count, "values without a conversion are not shown", code=Code.PRINTF_VALUES)
        place = iter(kinds)
        printed = tt.Print(ct.INT, span, format, tuple(self._printed(a, place) for a in arguments[:shown]))
        return self.after([a for a in arguments[shown:] if not _is_address(a)], printed)

    def _printf_of_choice(self, nodes, k: int) -> tt.Expr:
        """``printf("%s", c ? "a" : "b")`` is ``c ? printf("%s", "a") : printf("%s", "b")``: a call for each combination
        of texts."""
        choice, combinations = nodes[k], prod(map(_choices, nodes))
        if combinations > MOST_COMBINATIONS:
            raise CompileError.at(
                self.span(choice),
                f"this printf selects among {combinations:,} combinations of texts: at most {MOST_COMBINATIONS}",
                "write several calls of printf, each with some of the texts",
                code=Code.PRINTF,
            )
        calls = (
            c_ast.FuncCall(
                c_ast.ID("printf", choice.coord), c_ast.ExprList([*nodes[:k], one, *nodes[k + 1 :]]), choice.coord
            )
            for one in (choice.iftrue, choice.iffalse)
        )
        return self.rvalue(c_ast.TernaryOp(choice.cond, *calls, choice.coord))

    def _variadic(self, node) -> tt.Expr:
        """An argument of printf. Where it has no operand but constants it is what it is in C, where an unsuffixed
        floating constant is a double: its value is known here, and no arithmetic of doubles is built for it."""
        doubles = self.doubles
        self.doubles = doubles or not self.single_precision and _of_constants(node)
        try:
            return self.rvalue(node)
        finally:
            self.doubles = doubles

    def _printed(self, e: tt.Expr, kinds) -> tt.Expr:
        if isinstance(e.type, ct.Pointer):
            kind = next(kinds)
            if kind == "p":
                return tt.Convert(ct.ULONG, e.span, e)
            hint = (
                "%s shows a text in quotes, or a __constant array of char by its name"
                if kind == "s"
                else "print what it points to, or %p"
            )
            raise CompileError.at(e.span, f"%{kind} does not show '{e.type}'", hint, code=Code.PRINTF)
        element = ct.element_of(e.type)
        for _ in range(getattr(e.type, "length", 1)):
            if not ct.number(e.type):
                raise CompileError.at(
                    e.span, f"printf cannot show '{e.type}'", "print a number, or the address with %p", code=Code.PRINTF
                )
            kind = next(kinds)
            if kind in "sp":
                hint = "print numbers" if kind == "s" else "it shows the address of a pointer"
                raise CompileError.at(e.span, f"%{kind} does not show '{e.type}'", hint, code=Code.PRINTF)
            if isinstance(element, ct.Float) != (kind in "fFeEgGaA"):
                raise CompileError.at(
                    e.span,
                    f"%{kind} does not show '{element}'",
                    "use %f for it" if isinstance(element, ct.Float) else "use %d, %u or %x for it",
                    code=Code.PRINTF,
                )
        return self.convert(e, ct.with_element(e.type, ct.promoted(ct.container(element))))


def _of_constants(node) -> bool:
    """Whether an expression consists of constants and operators alone."""
    if isinstance(node, c_ast.UnaryOp | c_ast.BinaryOp | c_ast.Constant):
        return all(_of_constants(part) for _, part in node.children())
    return False


def _is_address(e: tt.Expr) -> bool:
    """Whether the expression is the address of a variable or a text, whose evaluation has no effect."""
    return isinstance(e, tt.AddressOf)


def _texts(format: str, nodes: list) -> list[int]:
    """The indices of the arguments for each %s."""
    kinds = [match[1] for match in _ANY_CONVERSION.finditer(format) if match[1] != "%"]
    return [k for k, kind in enumerate(kinds, 1) if kind == "s" and k < len(nodes)]


def _is_choice(node: c_ast.Node) -> bool:
    """Whether an argument is a text in quotes in either case."""
    return isinstance(node, c_ast.TernaryOp) and all(
        _is_choice(one) or (isinstance(one, c_ast.Constant) and one.type == "string")
        for one in (node.iftrue, node.iffalse)
    )


def _choices(node: c_ast.Node) -> int:
    """Among how many texts an argument selects; 1 if it is no choice."""
    return _choices(node.iftrue) + _choices(node.iffalse) if _is_choice(node) else 1


def _is_text(t: ct.CType) -> bool:
    """Whether a type is an array of characters."""
    return isinstance(t, ct.Array) and t.element in (ct.CHAR, ct.UCHAR)


def _with_texts(format: str, nodes: list, shown_as: Callable[[c_ast.Node], str | None]) -> tuple[str, list]:
    """The format with every argument that is a text, as ``shown_as`` says, substituted for its %s, and the other
    arguments."""
    parts, kept, rest = [], nodes[:1], iter(nodes[1:])
    end = 0
    for match in _ANY_CONVERSION.finditer(format):
        node = next(rest, None) if match.group(1) != "%" else None
        text = shown_as(node) if match.group(1) == "s" and node is not None else None
        if text is not None:
            shown = match[0] % text
            parts += [format[end : match.start()], shown.replace("%", "%%")]
            end = match.end()
        elif node is not None:
            kept.append(node)
    return "".join(parts) + format[end:], [*kept, *rest]


def _plain(format: str) -> str:
    """``%v4f`` as four conversions separated by commas."""

    def one(match: re.Match) -> str:
        flags, width, precision, length, size, kind = match.groups()
        return ",".join([f"%{flags}{width}{precision or ''}{size or ''}{kind}"] * int(length))

    return _VECTOR_CONVERSION.sub(one, format)
