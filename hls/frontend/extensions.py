"""The extensions to C99 that kernels use: ranges of labels and elements, ``a ?: b``, ``({ ... })``.

The nodes defined here supplement pycparser's own. ``typeof``, ``alignof`` and ``vec_step`` need none:
``hls.frontend.words`` presents them to the grammar as words that it knows.
"""

from typing import Any

from pycparser import c_ast
from pycparser.c_parser import CParser

__all__ = ["ExtendedGrammar", "Range", "StatementExpr", "stored_first"]


class Range(c_ast.Node):
    """``first ... last``, in a case label or a designator."""

    __slots__ = ("coord", "first", "last")
    attr_names = ()

    def __init__(self, first: c_ast.Node, last: c_ast.Node, coord: Any) -> None:
        self.first, self.last, self.coord = first, last, coord

    def children(self) -> tuple[tuple[str, c_ast.Node], ...]:
        """Both ends with their names, as pycparser's visitors expect them."""
        return (("first", self.first), ("last", self.last))


class StatementExpr(c_ast.Node):
    """``({ statements })``, whose value is that of the last one."""

    __slots__ = ("coord", "items")
    attr_names = ()

    def __init__(self, items: list[c_ast.Node], coord: Any) -> None:
        self.items, self.coord = items, coord

    def children(self) -> tuple[tuple[str, c_ast.Node], ...]:
        """The statements with their names, as pycparser's visitors expect them."""
        return tuple((f"items[{k}]", item) for k, item in enumerate(self.items))


def stored_first(name: str, kind: c_ast.Node, value: c_ast.Node, result: c_ast.Node) -> StatementExpr:
    """``({ kind name = value; result; })``; ``kind`` is a declarator's node."""
    declaration = c_ast.Decl(name, [], [], [], [], kind, value, None, value.coord)
    return StatementExpr([declaration, result], value.coord)


class ExtendedGrammar(CParser):
    """The rules of the C grammar that are extended, and what its tree cannot hold: ``parenthesized`` are the
    assignments in parentheses, ``behind_heads`` the empty statements whose ';' stands right behind a ')'."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.parenthesized: set[c_ast.Node] = set()
        self.behind_heads: set[c_ast.Node] = set()

    def _parse_range(self) -> c_ast.Node:
        first = self._parse_constant_expression()
        if self._peek_type() != "ELLIPSIS":
            return first
        token = self._advance()
        return Range(first, self._parse_constant_expression(), self._tok_coord(token))

    def _parse_labeled_statement(self) -> c_ast.Node:
        if self._peek_type() != "CASE":
            return super()._parse_labeled_statement()
        place = self._tok_coord(self._advance())
        label = self._parse_range()
        self._expect("COLON")
        statement = self._parse_pragmacomp_or_statement() if self._starts_statement() else c_ast.EmptyStatement(place)
        return c_ast.Case(label, [statement], place)

    def _parse_designator(self) -> c_ast.Node:
        if self._peek_type() != "LBRACKET":
            return super()._parse_designator()
        place = self._tok_coord(self._advance())
        index = self._parse_range()
        self._expect("RBRACKET")
        return c_ast.ArrayDesignator(index, place)

    def _parse_conditional_expression(self) -> c_ast.Node:
        condition = self._parse_binary_expression()
        if not self._accept("CONDOP"):
            return condition
        then = None if self._peek_type() == "COLON" else self._parse_expression()
        self._expect("COLON")
        otherwise = self._parse_conditional_expression()
        if then is not None:
            return c_ast.TernaryOp(condition, then, otherwise, condition.coord)
        name, place = "the condition", condition.coord  # no valid identifier, so it cannot clash with a program's name
        kind = c_ast.TypeDecl(name, [], None, c_ast.TypeOf("typeof", condition, place), place)
        stored = c_ast.ID(name, place)
        return stored_first(name, kind, condition, c_ast.TernaryOp(stored, stored, otherwise, place))

    def _parse_primary_expression(self) -> c_ast.Node:
        if self._peek_type() != "LPAREN":
            return super()._parse_primary_expression()
        if self._peek_type(2) != "LBRACE":
            inner = super()._parse_primary_expression()
            if isinstance(inner, c_ast.Assignment):
                self.parenthesized.add(inner)
            return inner
        place = self._tok_coord(self._advance())
        block = self._parse_compound_statement()
        self._expect("RPAREN")
        return StatementExpr(block.block_items or [], place)

    def _parse_expression_statement(self) -> c_ast.Node:
        before, token = self._tokens.peek_back(), self._peek()
        statement = super()._parse_expression_statement()
        empty = isinstance(statement, c_ast.EmptyStatement) and before is not None and before.type == "RPAREN"
        if empty and self.clex.are_neighbours(before.value.span, token.value.span):
            self.behind_heads.add(statement)
        return statement
