"""Converts structs and unions of the syntax tree to types."""

from typing import Any

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from . import types as ct
from .layout import has_event, has_pointer
from .lexer import Attribute, Word
from .parse import Syntax, parse_expressions
from .scope import Scopes, StructTag

__all__ = ["StructChecker", "innermost"]

_LARGEST_ALIGNMENT = 4096
_LARGEST_STRUCT = 1 << 20


class StructChecker(Scopes):
    """Resolves struct and union types. ``declared`` and ``constant_int`` are defined by subclasses."""

    def __init__(self, syntax: Syntax) -> None:
        super().__init__()
        self.syntax = syntax
        self.looked_at: set[Attribute] = set()  #: attributes that had an effect or a message
        self._structs: dict[int, ct.Struct] = {}  #: by node: `struct {int a;} x, y;` holds one node twice

    def span(self, node: c_ast.Node) -> Span | None:
        """The place of a node in the source."""
        return self.syntax.span(node)

    def struct(self, node: c_ast.Node) -> ct.Qualified:
        """The type of a struct or union node, which may define it or only name it."""
        if id(node) not in self._structs:
            self._structs[id(node)] = self._resolved(node, isinstance(node, c_ast.Union))
        return ct.Qualified(self._structs[id(node)])

    def complete(self, t: ct.CType, span: Span, what: str) -> None:
        """Reject a type whose size is not known yet."""
        inner = t
        while isinstance(inner, ct.Array):
            inner = inner.element
        if isinstance(inner, ct.Struct) and inner.members is None:
            raise CompileError.at(
                span,
                f"{what} has the type '{inner}', which is not complete",
                "define its members before it is used",
                code=Code.INCOMPLETE_TYPE,
            )

    def _resolved(self, node, union: bool) -> ct.Struct:
        tag = f"{'union' if union else 'struct'} {node.name}" if node.name else ""
        span = self.span(node)
        if node.decls is None:
            known = self.find(tag)
            return known.type if known is not None else self._tag(tag, ct.Struct(str(node.name), union), span)
        known = self.here(tag) if tag else None
        if known is not None and known.type.members is not None:
            again = ct.Struct(str(node.name), union)
            self._define(again, node, span)
            if again.same_layout(known.type):  # as in C23: programs that are linked define the same structs
                return known.type
            raise CompileError.at(
                span,
                f"'{tag}' is defined twice, and differently",
                f"the first one is at line {known.span.line}",
                code=Code.DEFINED_TWICE,
            )
        struct = known.type if known is not None else ct.Struct(str(node.name or ""), union)
        if tag and known is None:
            self._tag(tag, struct, span)
        self._define(struct, node, span)
        return struct

    def _tag(self, tag: str, struct: ct.Struct, span: Span) -> ct.Struct:
        self.add(tag, StructTag(struct, span), span)
        return struct

    def _define(self, struct: ct.Struct, node, span: Span):
        members, names = [], {}
        for decl in node.decls:
            if isinstance(decl, c_ast.Pragma):
                continue
            members += self._declared_member(struct, decl, span)
        for name in (name for member, t, _ in members for name in ([member] if member else t.index)):
            if name in names:
                raise CompileError.at(
                    span, f"'{struct}' has two members called '{name}'", "rename one of them", code=Code.BAD_STRUCT
                )
            names[name] = True
        if not members:
            raise CompileError.at(span, f"'{struct}' has no members", "give it at least one", code=Code.BAD_STRUCT)
        found = self.syntax.struct_attributes(node)
        self.looked_at.update(found)
        packed, align = self._layout_attributes(found, struct)
        struct.complete(members, packed, align)
        if struct.size > _LARGEST_STRUCT:
            struct.members = None
            raise CompileError.at(
                span,
                f"'{struct}' has {struct.size:,} bytes",
                f"at most {_LARGEST_STRUCT:,}; use an array of smaller structs in a __global buffer",
                code=Code.BAD_STRUCT,
            )
        if struct.union and has_pointer(struct):
            raise CompileError.at(
                span, "a union cannot hold a pointer", "addresses are not numbers here", code=Code.BAD_STRUCT
            )

    def _declared_member(self, struct: ct.Struct, decl, span: Span) -> list[tuple[str, ct.CType, int]]:
        inner = innermost(decl)
        place = self.span(inner if inner.coord else decl) or span
        if getattr(decl, "bitsize", None) is not None:
            raise CompileError.at(
                place,
                "bit-fields are not part of OpenCL C",
                "use masks and shifts on an unsigned member",
                code=Code.NOT_OPENCL,
            )
        if decl.name is None and not isinstance(decl.type, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.TypeDecl)):
            return self._nameless(struct, decl, place)
        declared = self.declared(decl.type, place)
        t = declared.type
        if isinstance(t, ct.Void) or (isinstance(t, ct.Array) and t.length == 0):
            raise CompileError.at(
                place, f"the member '{decl.name}' has no size", "give it a type with a size", code=Code.BAD_DECLARATION
            )
        self.complete(t, place, f"the member '{decl.name}'")
        self.check_no_event(t, f"the member '{decl.name}'", place)
        if declared.space == "local" or declared.space and not isinstance(t, ct.Pointer):
            raise CompileError.at(
                place,
                f"a member cannot be in __{declared.space} memory of its own",
                "the whole struct lies in one memory",
                code=Code.ADDRESS_SPACE,
            )
        _, align = self._layout_attributes(self.attributes(decl), struct, decl.name)
        return [(str(decl.name), t, align)]

    def _nameless(self, struct, decl, place) -> list[tuple[str, ct.CType, int]]:
        """The members of a struct or union without a name, which count as those of the enclosing one (C11 6.7.2.1);
        none for a mere type declaration."""
        kind = decl.type
        t = self.base(kind, place).type
        if not isinstance(t, ct.Struct):
            return []  # an enum
        if kind.decls is None or kind.name:
            raise CompileError.at(
                place,
                f"'{t}' in '{struct}' has no name as a member",
                "name the member, or remove the tag: the members "
                "of a struct or union without tag and name are those of the one around it",
                code=Code.BAD_STRUCT,
            )
        _, align = self._layout_attributes(self.attributes(decl), struct)
        return [("", t, align)]

    def check_no_event(self, t: ct.CType, what: str, span: Span) -> None:
        """Raise CompileError for a type with events where none can be: outside of the work-item that waits for them."""
        if has_event(t):
            raise CompileError.at(
                span,
                f"{what} cannot be of type '{t}'",
                "declare the event in the function that starts the copy, and wait for it there",
                code=Code.BAD_DECLARATION,
            )

    def attributes(self, node: c_ast.Node) -> list[Attribute]:
        """All attributes of a declaration, before, in and after its declarator."""
        words, inner = [*node.quals, *getattr(node, "funcspec", [])], node.type
        while inner is not None:
            words += getattr(inner, "quals", None) or []
            inner = inner.type if isinstance(inner, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)) else None
        found = [a for w in words if isinstance(w, Word) for a in w.attributes]
        name = getattr(innermost(node), "declname", None)
        found = list(dict.fromkeys([*found, *(name.attributes if isinstance(name, Word) else ())]))
        self.looked_at.update(found)
        return found

    def variable_attributes(self, node: c_ast.Node) -> list[Attribute]:
        """Like ``attributes``, but attributes of a single declarator override those of the whole declaration."""
        name = getattr(innermost(node), "declname", None)
        own = name.attributes if isinstance(name, Word) else ()
        said = {a.name for a in own}
        return [a for a in self.attributes(node) if a in own or a.name not in said]

    def _layout_attributes(self, attributes: list[Attribute], struct, member: str = "") -> tuple[bool, int]:
        """(packed, least alignment) from the attributes of a struct or a member."""
        packed, align = False, 1
        for attribute in attributes:
            if attribute.name == "packed":
                packed = True
                align = 1
            elif attribute.name == "aligned":
                align = max(align, self.alignment_of(attribute))
            else:
                of = f"the member '{member}'" if member else f"'{struct}'"
                self.warn(
                    attribute.span,
                    f"the attribute '{attribute.name}' of {of} is ignored",
                    self.similar(attribute.name, ("packed", "aligned")),
                    code=Code.ATTRIBUTE_IGNORED,
                )
        return packed, align

    def alignment_of(self, attribute: Attribute) -> int:
        """The N of ``aligned(N)``; without an argument, the largest alignment of any type."""
        nodes = parse_expressions(attribute.arguments, attribute.span, self.types()) if attribute.arguments else []
        if not nodes:
            return 128
        number = self.constant_int(nodes[0], "an alignment")
        if len(nodes) != 1 or number < 1 or number & number - 1 or number > _LARGEST_ALIGNMENT:
            raise CompileError.at(
                attribute.span,
                f"an alignment must be a power of two up to {_LARGEST_ALIGNMENT}",
                "write aligned(16)",
                code=Code.ATTRIBUTE_ARGUMENT,
            )
        return number


def innermost(node: c_ast.Node) -> Any:
    """The part of a declarator that holds the declared name."""
    while not isinstance(node, c_ast.TypeDecl) and getattr(node, "type", None) is not None:
        node = node.type
    return node
