"""Preprocessed text to pycparser's syntax tree; syntax errors name the place and what was expected there."""

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from ..diag import CompileError, Span
from .lexer import Attribute, OpenCLLexer
from .preprocess import Expanded

__all__ = ["Syntax", "parse", "parse_expressions"]

_SHOWN = {"SEMI": "';'", "LPAREN": "'('", "RPAREN": "')'", "LBRACE": "'{'", "RBRACE": "'}'", "RBRACKET": "']'",
          "LBRACKET": "'['", "COLON": "':'", "ID": "a name", "WHILE": "'while'", "EQUALS": "'='", "COMMA": "','"}


class _Parser(CParser):
    """pycparser's parser with messages of our own.

    ``_expect`` and ``_parse_error`` are its only two overridden methods; without them the grammar would be the same
    and the messages worse.
    """

    def _expect(self, token_type):
        token = self._peek()
        if token is None or token.type != token_type:
            wanted = _SHOWN.get(token_type, f"'{token_type.lower()}'")
            found = f"before '{token.value}'" if token else "at the end of the file"
            hint = _hint(token_type, token)
            raise CompileError.at(self._here(token), f"expected {wanted} {found}", hint)
        return self._advance()

    def _parse_error(self, msg, coord):
        token = self._peek()
        span = getattr(coord, "line", None) and Span(coord.file, coord.line, coord.column or 0)
        if msg == "Invalid expression":
            found = f"before '{token.value}'" if token else "at the end of the file"
            raise CompileError.at(self._here(token), f"expected an expression {found}")
        if msg.startswith(("At end of input", "before:")) or not span:
            found = f"unexpected '{token.value}'" if token else "the file ends too early"
            raise CompileError.at(self._here(token), found, "a '}' or ')' may be missing" if token is None else "")
        raise CompileError.at(span, msg[:1].lower() + msg[1:])

    def _lex_error_func(self, msg, line, column):
        raise CompileError.at(self.clex.place(line, column), msg[:1].lower() + msg[1:])

    def _here(self, token) -> Span | None:
        token = token or self.clex.delivered
        return token.value.span if token else None


def _hint(token_type, token) -> str:
    if token_type == "SEMI":
        return "a ';' may be missing before this"
    if token_type == "RBRACE" and token is None:
        return "a block that was opened is never closed"
    return ""


class Syntax:
    """A syntax tree and what the tree itself cannot hold."""

    def __init__(self, tree: c_ast.Node, lexer: OpenCLLexer):
        self.tree = tree
        self._trailing = lexer.trailing
        self._lengths = lexer.lengths
        self._struct_attributes = lexer.struct_attributes

    def span(self, node) -> Span | None:
        """The place of a node."""
        coord = node.coord
        if coord is None:
            return next((s for _, child in node.children() if (s := self.span(child))), None)
        length = self._lengths.get((coord.file, coord.line, coord.column), 1)
        return Span(coord.file, coord.line, coord.column or 0, length)

    def struct_attributes(self, node) -> list[Attribute]:
        """The attributes of a struct or union definition, after its keyword or after its closing brace."""
        coord = node.coord
        return self._struct_attributes.get((coord.file, coord.line, coord.column), []) if coord else []

    def attributes_after(self, node) -> list[Attribute]:
        """The attributes written after the declarator whose name stands at ``node``'s place."""
        coord = node.coord
        return self._trailing.get((coord.file, coord.line, coord.column), []) if coord else []


def parse(expanded: Expanded, file: str) -> Syntax:
    """Parse a whole preprocessed file. Raises CompileError at the first syntax error."""
    parser = _Parser(lexer=OpenCLLexer)
    parser.clex.expanded = expanded
    tree = _run(parser, expanded.text, file)
    return Syntax(tree, parser.clex)


def parse_expressions(text: str, span: Span) -> list[c_ast.Node]:
    """The comma-separated expressions of an attribute's or pragma's argument; all their places are ``span``."""
    parser = _Parser(lexer=OpenCLLexer)
    parser.clex.fixed_span = span
    tree = _run(parser, f"int x[] = {{ {text} }};", span.file)
    declaration = tree.ext[0]
    if len(tree.ext) != 1 or not isinstance(declaration, c_ast.Decl) or not isinstance(declaration.init, c_ast.InitList):
        raise CompileError.at(span, f"'{text}' is not a list of expressions")
    return declaration.init.exprs


def _run(parser: _Parser, text: str, file: str):
    try:
        return parser.parse(text, file)
    except ParseError as error:
        raise CompileError.at(parser._here(None), str(error)) from None
    except RecursionError:
        raise CompileError.at(parser._here(None), "the code nests too deeply here") from None
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # pycparser checks some malformed declarations only by assertion
        raise CompileError.at(parser._here(None), "this does not parse", str(error)) from None
