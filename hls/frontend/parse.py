"""Parses preprocessed text to pycparser's syntax tree; syntax errors name the location and what was expected there."""

import itertools
from collections.abc import Iterable
from dataclasses import replace

from pycparser import c_ast
from pycparser.c_parser import ParseError, _TokenStream  # the stream has no public name

from ..diag import Code, CompileError, Diagnostic, Span
from .extensions import ExtendedGrammar
from .foreign_syntax import BEGIN_TYPE, NESTED, TYPES, foreign_error, statement_hint
from .illegal_text import illegal_text
from .lexer import Attribute, OpenCLLexer
from .preprocess import Expanded
from .unknown_types import unknown_type
from .unknown_words import OUTSIDE, ForHeads, unknown_word
from .words import RESERVED_WORDS

__all__ = ["Syntax", "parse", "parse_expressions"]

_SHOWN = {
    "SEMI": "';'",
    "LPAREN": "'('",
    "RPAREN": "')'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "RBRACKET": "']'",
    "LBRACKET": "'['",
    "COLON": "':'",
    "ID": "a name",
    "WHILE": "'while'",
    "EQUALS": "'='",
    "COMMA": "','",
}


_SEMICOLON_BEFORE = "a ';' may be missing before this"
#: after this many syntax errors the rest are not reported
_MOST_ERRORS = 20
#: pycparser checks some malformed declarations only by assertion
_MALFORMED = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)


class _TooManyErrors(CompileError):
    """Ends the parser: all errors so far."""


class _Parser(ExtendedGrammar):
    """pycparser's parser with messages of our own, which continues after a syntax error.

    ``errors`` collects the errors; the statement or declaration around an error is skipped.
    """

    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.errors: list[Diagnostic] = []
        self._nested = False  #: a function inside another was reported
        self._outside = False  #: an error was about a statement at file scope, and no declaration followed yet
        self.unknown: set[str] = set()  #: names that were taken for types after an error
        self.types: Iterable[str] = ()  #: names of types that are predefined

    # -- messages

    def _expect(self, token_type):
        token = self._peek()
        if token is None or token.type != token_type:
            wanted = _SHOWN.get(token_type, f"'{token_type.lower()}'")
            found = f"before '{token.value.spelled}'" if token else "at the end of the file"
            hint = _hint(token_type, token, self._tokens.peek_back())
            if token_type == "RBRACE" and token is None:
                hint = f"the '{{' of line {self._tokens.unclosed_brace().line} is never closed"
            if hint == _SEMICOLON_BEFORE and (before := self._line_ends()):
                told = f"expected {wanted} after '{before.value.spelled}'"
                raise CompileError.at(_behind(before), told, "write ';' here", code=Code.SYNTAX)
            raise CompileError.at(self._here(token), f"expected {wanted} {found}", hint, code=Code.SYNTAX)
        return self._advance()

    def _line_ends(self):
        """The token before the next one, if the next one is on a later line of its file; else None."""
        before, token = self._tokens.peek_back(), self._peek()
        if before is None or token is None or not before.value.span.column:
            return None
        here, there = before.value.span, token.value.span
        return before if here.file == there.file and here.line < there.line else None

    def _parse_error(self, msg, coord):
        token = self._peek()
        if msg.startswith("Invalid multiple types") and (brace := self._tokens.unfinished_struct()):
            after = _behind(brace)
            raise CompileError.at(after, "expected ';' after '}'", "write ';' here", code=Code.SYNTAX)
        span = getattr(coord, "line", None) and Span(coord.file, coord.line, coord.column or 0)
        if msg == "Invalid expression":
            found = f"before '{token.value.spelled}'" if token else "at the end of the file"
            hint = _no_name(token)
            if hint and token.type in TYPES:
                hint += f", or for a conversion '({token.value.spelled})(...)'"
            raise CompileError.at(self._here(token), f"expected an expression {found}", hint, code=Code.SYNTAX)
        if msg.startswith(("At end of input", "before:")) or not span:
            found = f"unexpected '{token.value.spelled}'" if token else "the file ends too early"
            raise CompileError.at(
                self._here(token), found, "a '}' or ')' may be missing" if token is None else "", code=Code.SYNTAX
            )
        at = next((t for t in (self._tokens.peek_back(), token) if _no_name(t)), None)
        hint, span = _no_name(at), at.value.span if at else span
        raise CompileError.at(span, msg[:1].lower() + msg[1:], hint, code=Code.SYNTAX)

    def _lex_error_func(self, msg, line, column):
        told, hint = illegal_text(msg, self.clex.text_at(line, column))
        raise CompileError.at(self.clex.place(line, column), told, hint, code=Code.SYNTAX)

    def _here(self, token) -> Span | None:
        token = token or self.clex.delivered
        return token.value.span if token else None

    # -- recovery

    def parse(self, text, filename: str = "", debug: bool = False):
        self._scope_stack, self._typedef_checked_token = [dict.fromkeys(self.types, True)], None
        self.clex.input(text, filename)
        self._tokens = _Tokens(self.clex.token)
        nodes = []
        while self._peek() is not None:
            if self._peek_type() == "RBRACE":
                self._stray_brace(self._advance())
            else:
                nodes += self._recovered(self._parse_external_declaration, top=True)
        return c_ast.FileAST(nodes)

    def _stray_brace(self, token) -> None:
        """A '}' at file scope. It ends what an error about a statement there told of already."""
        if not self._outside:
            hint = "remove it, or write the '{' that it closes"
            self.errors.append(Diagnostic("'}' closes nothing", token.value.span, hint, code=Code.SYNTAX))
        self._outside = False

    def _parse_external_declaration(self):
        kind, following = self._peek_type(), self._peek_type(2)
        if kind not in OUTSIDE and not (kind == "ID" and following in OUTSIDE):
            found = super()._parse_external_declaration()
            self._outside = False
            return found
        if self._outside:
            raise CompileError()
        self._outside = True
        hint = "put it into a function; a '}' above may be one too many"
        raise CompileError.at(self._here(self._peek()), "a statement outside of a function", hint, code=Code.SYNTAX)

    def _parse_expression_statement(self):
        token = self._peek()
        if token is None or token.type == "SEMI" or self._starts_expression():
            return super()._parse_expression_statement()
        told = f"expected a statement before '{token.value.spelled}'"
        raise CompileError.at(self._here(token), told, statement_hint(token.type), code=Code.SYNTAX)

    def _parse_block_item_list(self):
        items = []
        while self._peek_type() not in {"RBRACE", None}:
            found = self._recovered(self._parse_block_item)
            items += [node for node in found if node is not None]
        return items

    def _recovered(self, parse, top: bool = False) -> list:
        """The result of ``parse`` as a list; empty after an error, in which case tokens up to the likely end of the
        construct are skipped."""
        begin, depth, reported = self._mark(), len(self._scope_stack), len(self.errors)
        while True:
            try:
                found = parse()
                return found if isinstance(found, list) else [found]
            except _TooManyErrors:
                raise
            except (CompileError, ParseError, RecursionError, *_MALFORMED) as error:
                foreign = self._foreign(begin, error, top)
                again = not foreign and len(self.errors) == reported and self._reports_name(error)
                if not again:
                    self._report(foreign or error)
                del self._scope_stack[depth:]
                self._typedef_checked_token = None
                if not again:
                    self._skip(begin, top)
                    return []
                reported = len(self.errors)
                self._reset(begin)

    def _foreign(self, begin: int, error: Exception, top: bool) -> CompileError | None:
        """The error at a construct of another language. What a class is called is a type from here on."""
        following, read = self._tokens.peek(2) if self._peek() else None, self._tokens.read(begin)
        told = error.diagnostics[0] if isinstance(error, CompileError) and error.diagnostics else None
        found = foreign_error(read, following, self._is_known, told, top) if read else None
        if found and found.diagnostics[0].hint == NESTED:  # where a '}' is missing, all that follow seem to be nested
            found, self._nested = (CompileError() if self._nested else found), True
        for word, name in itertools.pairwise(read) if found else ():
            if word.value == "class" and name.type == "ID":
                self.unknown.add(str(name.value))
                self._scope_stack[0][str(name.value)] = True
        return found

    def _reports_name(self, error: Exception) -> bool:
        """Whether an undeclared name explains the error. It is reported; from here on a type is known, and a word that
        no declaration can begin with is left out."""
        if not isinstance(error, CompileError) or not error.diagnostics or len(self.errors) >= _MOST_ERRORS:
            return False
        word = unknown_word(self._tokens, self._is_known)
        if word is not None:
            self.errors.append(word.diagnostic)
            self._tokens.drop(word.place)
            return True
        names = {name for scope in self._scope_stack for name, is_type in scope.items() if is_type} - self.unknown
        found = unknown_type(self._tokens, error.diagnostics[0], self._is_known, names)
        if found is None:
            return False
        self.errors.append(found.diagnostic)
        self.unknown.add(found.name)
        self._scope_stack[0][found.name] = True
        return True

    def _is_known(self, name: str) -> bool:
        return any(name in scope for scope in self._scope_stack)

    def _report(self, error: Exception):
        at_end = self._peek() is None
        if isinstance(error, CompileError):
            found = list(error.diagnostics)
        elif isinstance(error, RecursionError):
            found = [Diagnostic("the code nests too deeply here", self._here(None), code=Code.NESTED_TOO_DEEP)]
        else:
            message = str(error) if isinstance(error, ParseError) else "this does not parse"
            found = [
                Diagnostic(
                    message, self._here(None), "" if isinstance(error, ParseError) else str(error), code=Code.SYNTAX
                )
            ]
        if not (at_end and self.errors):  # after an error braces may not match
            self.errors += found
        if len(self.errors) >= _MOST_ERRORS or isinstance(error, RecursionError):
            raise _TooManyErrors(*self.errors)

    def _skip(self, begin: int, top: bool) -> None:
        """Continue after the next ';' or block that is not nested; a typedef's name stays known as a type."""
        if self._tokens.mark() == begin:
            self._tokens.next()
        typedef = self._tokens.at(begin) is not None and self._tokens.at(begin).type == "TYPEDEF"
        depth = self._tokens.open_braces(begin)
        heads = ForHeads()
        for token in self._tokens.read(begin)[:-1]:
            heads.separates(token.type)
        last = None
        while (token := self._tokens.peek()) is not None:
            if token.type == "RBRACE" and depth <= 0 and not top:
                return  # end of the enclosing block
            self._tokens.next()
            depth += (token.type == "LBRACE") - (token.type == "RBRACE")
            separates = heads.separates(token.type)
            if depth <= 0 and token.type == "SEMI" and not separates:
                if typedef and last is not None:
                    self._scope_stack[-1][str(last.value)] = True
                return
            if depth <= 0 and token.type == "RBRACE" and not typedef and self._ends(top):
                return
            last = token if token.type in ("ID", "TYPEID") else last

    def _ends(self, top: bool) -> bool:
        """Whether the preceding brace ends a statement or definition."""
        following = self._tokens.peek()
        return following is None or following.type not in ("SEMI", "ELSE", "WHILE", "COMMA", "EQUALS")


class _Tokens(_TokenStream):
    """Tokens that can be read again."""

    def at(self, index: int):
        return self._buffer[index] if index < len(self._buffer) else None

    def peek_back(self):
        """The token before the next one."""
        return self._buffer[self._index - 1] if self._index else None

    def read(self, begin: int) -> list:
        """The tokens from ``begin`` to the one that the parser stopped at."""
        return [token for token in self._buffer[begin : self._index + 1] if token is not None]

    def drop(self, index: int) -> None:
        """Leave the token of that number out."""
        del self._buffer[index]

    def unclosed_brace(self) -> Span:
        """The place of the last '{' read that has no '}'."""
        open_braces: list[Span] = []
        for token in self._buffer[: self._index]:
            if token.type == "LBRACE":
                open_braces.append(token.value.span)
            elif token.type == "RBRACE":
                del open_braces[-1:]
        return open_braces[-1]

    def unfinished_struct(self):
        """The last '}' read that a type follows; None if there is none."""
        read = self._buffer[: self._index]
        ends = (t for t, behind in zip(read[-2::-1], read[::-1]) if t.type == "RBRACE" and behind.type in BEGIN_TYPE)
        return next(ends, None)

    def open_braces(self, begin: int) -> int:
        """How many braces opened since ``begin`` are still open."""
        kinds = [t.type for t in self._buffer[begin : self._index] if t is not None]
        return kinds.count("LBRACE") - kinds.count("RBRACE")


def _behind(token) -> Span:
    """The place behind a token."""
    span = token.value.span
    return replace(span, column=span.column + span.length, length=1)


def _reserved(token) -> str:
    """The hint for a keyword that stands where a name was expected; empty for all other tokens."""
    word = token.value.spelled if token is not None else ""
    return f"'{word}' is a reserved word of OpenCL C: use another name" if word in RESERVED_WORDS else ""


def _no_name(token) -> str:
    """The hint for a keyword or a type that stands where a name was expected; empty for all other tokens."""
    if token is not None and token.type in TYPES and token.value.spelled not in RESERVED_WORDS:
        return f"'{token.value.spelled}' is the name of a type: use another name"
    return _reserved(token)


def _hint(token_type, token, before) -> str:
    if token_type in ("ID", "SEMI") and (hint := (_no_name if token_type == "ID" else _reserved)(token)):
        return hint
    if (
        token is not None
        and before is not None
        and "_CONST" in before.type
        and (token.type == "ID" or "_CONST" in token.type)
        and token.value.touches
    ):
        return f"'{before.value}{token.value}' is not a number"
    if token_type == "SEMI":
        return _SEMICOLON_BEFORE
    return ""


class Syntax:
    """A syntax tree, and information that pycparser's tree cannot hold."""

    def __init__(self, tree: c_ast.Node, parser: _Parser) -> None:
        lexer = parser.clex
        self.tree = tree
        self.parenthesized, self.behind_heads = parser.parenthesized, parser.behind_heads
        self._expansions = lexer.expansions
        self._lengths = lexer.lengths
        self._struct_attributes = lexer.struct_attributes
        self.attributes = lexer.attributes  #: all but those of loops

    def span(self, node: c_ast.Node) -> Span | None:
        """The location of a node."""
        coord = node.coord
        if coord is None:
            return next((s for _, child in node.children() if (s := self.span(child))), None)
        length = self._lengths.get((coord.file, coord.line, coord.column), 1)
        return Span(coord.file, coord.line, coord.column or 0, length)

    def is_expanded(self, span: Span | None) -> bool:
        """Whether a token at this place comes from the expansion of a macro."""
        return span is not None and (span.file, span.line, span.column) in self._expansions

    def struct_attributes(self, node: c_ast.Node) -> list[Attribute]:
        """The attributes of a struct or union definition, after its keyword or after its closing brace."""
        coord = node.coord
        return self._struct_attributes.get((coord.file, coord.line, coord.column), []) if coord else []


def parse(expanded: Expanded, file: str) -> Syntax:
    """Parse a whole preprocessed file. Raises CompileError with all syntax errors that could be distinguished."""
    parser = _Parser(lexer=OpenCLLexer)
    parser.clex.expanded = expanded
    tree = _run(parser, expanded.text, file)
    return Syntax(tree, parser)


def parse_expressions(text: str, span: Span, types: Iterable[str] = ()) -> list[c_ast.Node]:
    """The comma-separated expressions in the argument of an attribute or pragma; all their locations are ``span``.
    ``types`` are the type names of the program."""
    parser = _Parser(lexer=OpenCLLexer)
    parser.clex.fixed_span, parser.types = span, types
    tree = _run(parser, f"int _Values[] = {{ {text} }};", span.file)
    declaration = tree.ext[0]
    if (
        len(tree.ext) != 1
        or not isinstance(declaration, c_ast.Decl)
        or not isinstance(declaration.init, c_ast.InitList)
    ):
        raise CompileError.at(span, f"'{text}' is not a list of expressions", code=Code.SYNTAX)
    return declaration.init.exprs


def _run(parser: _Parser, text: str, file: str):
    try:
        tree = parser.parse(text, file)
    except RecursionError:
        raise CompileError(
            *parser.errors, Diagnostic("the code nests too deeply here", parser._here(None), code=Code.NESTED_TOO_DEEP)
        ) from None
    errors = [*parser.clex.errors, *parser.errors]
    if errors:
        raise CompileError(*errors)
    return tree
