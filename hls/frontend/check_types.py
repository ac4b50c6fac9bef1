"""Converts type names and declarators of the syntax tree to types; all errors about types are reported here."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..limits import MOST_ARRAY_BYTES, MOST_GLOBAL_ARRAY_BYTES
from . import types as ct
from .check_structs import StructChecker
from .lexer import Word
from .parse import Syntax
from .scope import EnumConstant, TypeName

__all__ = ["TypeChecker"]

_ALIASES = {
    "event_t": ct.EVENT,
    "size_t": ct.ULONG,
    "ptrdiff_t": ct.LONG,
    "intptr_t": ct.LONG,
    "uintptr_t": ct.ULONG,
    "_Bool": ct.BOOL_T,
    "signed": ct.INT,
    "unsigned": ct.UINT,
    "void": ct.VOID,
}
_SPACES = ("__global", "__local", "__constant", "__private")
_BASES = {
    "char": (ct.CHAR, ct.UCHAR),
    "short": (ct.SHORT, ct.USHORT),
    "int": (ct.INT, ct.UINT),
    "long": (ct.LONG, ct.ULONG),
}


class TypeChecker(StructChecker):
    """Resolves types. ``constant_int`` is defined by the expression checker, a subclass."""

    def __init__(self, syntax: Syntax) -> None:
        super().__init__(syntax)
        self._enums: set[int] = set()  #: nodes seen: `enum {A} x, y;` holds one node twice
        self._enum_types: dict[int, ct.Int] = {}  #: by node that defined one
        self.types_of_macros: set[Span] = set()  #: the places of names and casts to which a macro gives their type

    # -- base types

    def base(self, node: c_ast.Node, place: Span) -> ct.Qualified:
        """The type at the beginning of a declaration."""
        if isinstance(node, c_ast.IdentifierType):
            named = self._named(node.names, self.span(node) or place)
            if len(node.names) == 1:
                self.find(node.names[0], self.span(node))  # it stands there
            return named
        if isinstance(node, c_ast.Enum):
            return self._enum(node)
        if isinstance(node, (c_ast.Struct, c_ast.Union)):
            return self.struct(node)
        if isinstance(node, c_ast.TypeOf):
            return ct.Qualified(self.named_type(node.expr, self.span(node) or place))
        raise CompileError.at(self.span(node) or place, "this type is not supported", code=Code.UNKNOWN_TYPE)

    def _named(self, names: list[str], span: Span) -> ct.Qualified:
        if len(names) == 1:
            return self._word(names[0], span)
        words = Counter(names)
        if words["long"] == 2:
            self.warn(span, "'long long' is treated as long, which has 64 bits", "write long", code=Code.LONG_LONG)
            words["long"] = 1
            names = [*words.elements()]
        signs = words["signed"] + words["unsigned"]
        kinds = [w for w in _BASES if words[w]]
        if "double" in words:
            return self._word("double", span)
        known = signs + sum(words[w] for w in kinds) == len(names) and max(words.values()) == 1
        if "int" in kinds and len(kinds) == 2 and "char" not in kinds:
            kinds.remove("int")  # "long int" is long
        if not known or signs > 1 or len(kinds) != 1:
            raise CompileError.at(span, f"'{' '.join(names)}' is not a type", code=Code.UNKNOWN_TYPE)
        return ct.Qualified(_BASES[kinds[0]][words["unsigned"]])

    def _word(self, name: str, span: Span) -> ct.Qualified:
        known = ct.SCALARS.get(name) or _ALIASES.get(name) or ct.VECTORS.get(name)
        if known is not None:
            return ct.Qualified(known)
        if name.endswith("_t") and (name.startswith("image") or name == "sampler_t"):
            raise CompileError.at(
                span,
                f"images are not supported: '{name}'",
                "pass the pixels as a __global buffer",
                code=Code.NOT_OPENCL,
            )
        meaning = self.find(name)
        if isinstance(meaning, TypeName):
            return meaning.meaning
        raise CompileError.at(span, f"unknown type '{name}'", self.similar(name, ct.SCALARS), code=Code.UNKNOWN_TYPE)

    def _enum(self, node) -> ct.Qualified:
        items = (
            [i for i in node.values.enumerators if isinstance(i, c_ast.Enumerator)]
            if node.values and id(node) not in self._enums
            else ()
        )
        self._enums.add(id(node))
        following, found = 0, []
        least, most = 0, 0  # range of the constants so far
        for item in items:
            span = self.span(item)
            if item.value is not None:
                following = self.constant_int(item.value, "the value of an enum constant")
            least, most = min(least, following), max(most, following)
            constant = EnumConstant(following, self._holding(least, most, item.name, span), span)
            found.append(constant)
            self.add(item.name, constant, span)
            following += 1
        for constant in found:  # all get the type that holds the last one
            constant.type = found[-1].type
        if found:
            self._enum_types[id(node)] = found[-1].type
        return ct.Qualified(self._enum_types.get(id(node), ct.INT))

    def _holding(self, least: int, most: int, name: str, span: Span) -> ct.Int:
        """The type of an enum with constants from ``least`` to ``most``: int if it holds them all, or else, as in other
        compilers, the first type that does."""
        for t in (ct.INT, ct.UINT, ct.LONG, ct.ULONG):
            low = -(1 << t.bits - 1) if t.signed else 0
            if low <= least and most < low + (1 << t.bits):
                return t
        raise CompileError.at(
            span,
            f"'{name}' does not fit into one type with the constants before it",
            "use a __constant long",
            code=Code.CONSTANT_NEEDED,
        )

    # -- declarators

    def declared(self, node: c_ast.Node, place: Span) -> ct.Qualified:
        """The type of a declarator. An array without a length has length 0 here."""
        if isinstance(node, (c_ast.Typename, c_ast.Decl, c_ast.Typedef)):
            return self.declared(node.type, place)
        if isinstance(node, c_ast.TypeDecl):
            if self.syntax.is_expanded(self.span(node.type)):
                self.types_of_macros.add(place)
            return self._qualified(self.base(node.type, place), node.quals or [], place)
        if isinstance(node, c_ast.PtrDecl):
            if isinstance(node.type, c_ast.FuncDecl):
                raise CompileError.at(
                    self.span(node),
                    "function pointers are not supported",
                    "call the function by name",
                    code=Code.FUNCTION_POINTER,
                )
            return self._pointer(self.declared(node.type, place), node, place)
        if isinstance(node, c_ast.ArrayDecl):
            return self._array(self.declared(node.type, place), node, place)
        if isinstance(node, c_ast.FuncDecl):
            raise CompileError.at(
                self.span(node) or place,
                "a function cannot be declared here",
                "declare it at file scope",
                code=Code.BAD_DECLARATION,
            )
        return self.base(node, place)

    def _qualified(self, base: ct.Qualified, words, place: Span) -> ct.Qualified:
        const, volatile, restrict, space = self.qualifiers(words, place)
        if restrict:
            raise CompileError.at(
                place, "'restrict' belongs to a pointer", "write it after the '*'", code=Code.BAD_DECLARATION
            )
        if space and base.space and space != base.space:
            raise CompileError.at(
                place, f"two address spaces: __{base.space} and __{space}", "keep one", code=Code.ADDRESS_SPACE
            )
        return ct.Qualified(
            base.type, base.const or const, base.volatile or volatile, base.restrict, space or base.space
        )

    def qualifiers(self, words: Iterable[str], place: Span) -> tuple[bool, bool, bool, str | None]:
        """(const, volatile, restrict, address space) of a list of qualifiers."""
        spaces = sorted({str(w) for w in words if w in _SPACES})
        if len(spaces) > 1:
            span = next(w.span for w in words if isinstance(w, Word) and w in _SPACES)
            raise CompileError.at(
                span, f"two address spaces: {spaces[0]} and {spaces[1]}", "keep one", code=Code.ADDRESS_SPACE
            )
        return "const" in words, "volatile" in words, "restrict" in words, spaces[0][2:] if spaces else None

    def _pointer(self, target: ct.Qualified, node, place: Span) -> ct.Qualified:
        span = self.span(node) or place
        const, volatile, restrict, space = self.qualifiers(node.quals or [], span)
        if space not in (None, "private", "local"):
            raise CompileError.at(
                span,
                f"a pointer itself cannot be in __{space} memory",
                f"write __{space} before the '*'"
                if target.space is None
                else "store the number of an element, and pass the buffer that it counts in as an argument",
                code=Code.ADDRESS_SPACE,
            )
        return target.pointer(const=const, volatile=volatile, restrict=restrict, space=space)

    def _array(self, element: ct.Qualified, node, place: Span) -> ct.Qualified:
        span = self.span(node) or place
        if isinstance(element.type, ct.Void):
            raise CompileError.at(span, "an array cannot hold void", code=Code.BAD_DECLARATION)
        self.complete(element.type, span, "the element of an array")
        if isinstance(element.type, ct.Array) and element.type.length == 0:
            raise CompileError.at(span, "only the first dimension of an array may be left out", code=Code.ARRAY_SIZE)
        if node.dim is None:
            return element.array(0)
        length = self.constant_int(
            node.dim,
            "the length of an array",
            "variable-length arrays do not exist in hardware: use the largest length as a constant",
        )
        if length < 1:
            raise CompileError.at(
                self.span(node.dim), f"the length of an array must be positive, not {length}", code=Code.ARRAY_SIZE
            )
        self._check_size(length * element.type.size, element.space, self.span(node.dim))
        return element.array(length)

    def _check_size(self, size: int, space: str | None, span: Span) -> None:
        """Raise CompileError for an array of so many bytes that its memory cannot have."""
        if space == "global" and size > MOST_GLOBAL_ARRAY_BYTES:
            text = f"this array needs {size} bytes of global memory"
            raise CompileError.at(span, text, f"at most {MOST_GLOBAL_ARRAY_BYTES}", code=Code.ARRAY_SIZE)
        if space != "global" and size > MOST_ARRAY_BYTES:
            text = f"this array needs {size} bytes on the chip"
            hint = f"at most {MOST_ARRAY_BYTES}; use a __global buffer"
            raise CompileError.at(span, text, hint, code=Code.ARRAY_SIZE)

    def parameter_type(self, declared: ct.Qualified, words: Sequence[str] = ()) -> ct.Qualified:
        """An array as a parameter is a pointer to its first element; ``words`` between its brackets, as in
        ``a[restrict 16]``, qualify the pointer."""
        t = declared.type
        if not isinstance(t, ct.Array):
            return declared
        target = ct.Qualified(t.element, declared.const, declared.volatile, False, declared.space)
        return target.pointer(**{word: word in words for word in ("const", "volatile", "restrict")})
