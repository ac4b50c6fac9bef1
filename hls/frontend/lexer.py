"""Tokens of OpenCL C for pycparser's parser, with locations in the user's source."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pycparser.c_lexer import CLexer, Token

from ..diag import Code, CompileError, Diagnostic, Span
from .preprocess import Expanded
from .words import ACCESS_WORDS, REFUSED_WORDS, SPELLINGS, STREAM_WORDS, TYPE_WORDS

__all__ = ["Attribute", "OpenCLLexer", "Word"]

_JOINS_TYPE = {
    "ID",
    "TIMES",
    "INT",
    "VOID",
    "CHAR",
    "SHORT",
    "LONG",
    "FLOAT",
    "DOUBLE",
    "SIGNED",
    "UNSIGNED",
    "CONST",
    "VOLATILE",
    "RESTRICT",
    "INLINE",
    "STATIC",
    "EXTERN",
    "STRUCT",
    "UNION",
    "ENUM",
    "TYPEDEF",
}
#: behind which a name is declared
_ENDS_TYPE = _JOINS_TYPE - {"CONST", "VOLATILE", "RESTRICT", "INLINE", "STATIC", "EXTERN", "TYPEDEF"} | {
    "RBRACE",
    "COMMA",
}
_LOOPS = {"FOR", "WHILE", "DO"}
_BEHIND_NAME = {"LBRACKET", "EQUALS", "COMMA", "SEMI"}
_OPENS, _CLOSES = {"LPAREN", "LBRACKET", "LBRACE"}, {"RPAREN", "RBRACKET", "RBRACE"}
_AFTER_STATEMENT = {"SEMI", "LBRACE", "RBRACE", "RPAREN", "COLON", "ELSE", "DO", "PPPRAGMASTR"}


@dataclass(frozen=True)
class Attribute:
    """One entry of ``__attribute__((name(arguments)))``; ``arguments`` holds the text between its parentheses."""

    name: str
    arguments: str
    span: Span

    @property
    def text(self) -> str:
        """The entry as hosts are told of it: no blanks but those within an argument."""
        arguments = ",".join(" ".join(one.split()) for one in self.arguments.split(","))
        return f"{self.name}({arguments})" if arguments else self.name


class Word(str):
    """A token's text with its location; an ``__attribute__`` also carries its entries.

    pycparser copies the text of operators, qualifiers and specifiers into its nodes unchanged.
    """

    span: Span
    attributes: tuple[Attribute, ...] = ()
    touches = False  #: the token follows the one before without white space
    followed = False  #: the next token follows this one without white space
    spelled: str  #: as the source has it: a keyword may have several spellings

    def __new__(cls, text: str, span: Span, attributes: tuple[Attribute, ...] = (), spelled: str = ""):
        """``spelled`` is the text as the source has it, if that is different from the token's text."""
        self = super().__new__(cls, text)
        self.span, self.attributes, self.spelled = span, attributes, spelled or text
        return self


class OpenCLLexer(CLexer):
    """Feeds the parser tokens of an :class:`Expanded` text.

    Attributes after a declarator, where the C grammar does not allow them, are attached to the word that is the
    declared name (locations do not distinguish names: all tokens of a macro expansion have the same one).
    ``struct_attributes`` maps the location of the tag, or else the brace, of a struct or union to its attributes.
    """

    def __init__(self, error_func: Callable[..., None], **options: Any) -> None:
        super().__init__(error_func, **options)
        self.expanded: Expanded | None = None
        self.fixed_span: Span | None = None  #: location for every token (text from a pragma)
        self.struct_attributes: dict[tuple, list[Attribute]] = {}
        self.attributes: list[Attribute] = []  #: all that belong to a declaration, a struct or a function
        self.lengths: dict[tuple, int] = {}  #: (file, line, column) -> length of the token there
        self.expansions: set[tuple] = set()  #: (file, line, column) of the names of macros that were expanded
        self._source_lines: dict[str, list[str]] = {}  #: of each file that was asked for
        self.delivered: Token | None = None
        self.errors: list[Diagnostic] = []  #: rejected words: the parser goes on with them as names
        self._queue: list[Token] = []
        self._next = 0

    def input(self, text: str, filename: str = "") -> None:
        """Tokenize ``text`` at once; :meth:`token` delivers the tokens. The suffix of a half is joined with its
        number, and attributes with the names they belong to."""
        super().input(text, filename)
        self._lines = [0]
        for line in text.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        tokens, number, before = [], None, None  # end of a number that may have a suffix; end of the last token
        while (token := super().token()) is not None:
            place, end = (token.lineno, token.column), (token.lineno, token.column + len(token.value))
            if token.type == "ID" and token.value in ("h", "H") and place == number:
                # the suffix of a half, which the grammar does not know
                tokens[-1].value = Word(f"{tokens[-1].value}h", tokens[-1].value.span)
                continue
            if token.type == "ATTRIBUTE_BEGIN":  # refused anyway: in an attribute without end all words would be names
                self._in_attribute = False
            number = end if token.type in ("FLOAT_CONST", "HEX_FLOAT_CONST") and token.value[-1] not in "fFlL" else None
            tokens.append(self._located(token))
            tokens[-1].value.touches, before = place == before, end
            if tokens[-1].value.touches:
                tokens[-2].value.followed = True
        self._queue, self._next = self._fold(tokens), 0
        _name_types_again(self._queue)

    def token(self) -> Token | None:
        """The next token, None at the end."""
        if self._next >= len(self._queue):
            return None
        self.delivered = self._queue[self._next]
        self._next += 1
        return self.delivered

    def place(self, line: int, column: int, length: int = 1) -> Span | None:
        """The user's location for a position in the preprocessed text."""
        if self.fixed_span:
            return self.fixed_span
        return self.expanded.span(self._offset(line, column), length) if self.expanded else None

    def text_at(self, line: int, column: int) -> str:
        """The preprocessed text from a position on."""
        return self._lexdata[self._offset(line, column) :]

    def are_neighbours(self, first: Span, second: Span) -> bool:
        """Whether the program's text has nothing but blanks between two places of one line: no macro that expanded to
        nothing, and no comment."""
        if self.expanded is None or first.file != second.file or first.line != second.line:
            return False
        if any((at.file, at.line, at.column) in self.expansions for at in (first, second)):
            return False
        if first.file not in self._source_lines:
            self._source_lines[first.file] = self.expanded.sources.get(first.file, "").split("\n")
        lines = self._source_lines[first.file]
        return first.line <= len(lines) and not lines[first.line - 1][first.column : second.column - 1].strip()

    def _offset(self, line: int, column: int) -> int:
        return self._lines[min(line, len(self._lines)) - 1] + column - 1

    def _located(self, token: Token) -> Token:
        span = self.place(token.lineno, token.column, len(token.value))
        written = self.expanded is None or self.expanded.is_written(self._offset(token.lineno, token.column))
        if token.value in REFUSED_WORDS and token.type != "PPPRAGMASTR":
            self._refuse(span, *REFUSED_WORDS[token.value], code=Code.NOT_OPENCL)
        kind, word = SPELLINGS.get(token.value, (token.type, token.value))
        if token.type not in ("PPPRAGMASTR", "STRING_LITERAL"):
            token.type = kind
        else:
            word = token.value
        token.value = Word(word, span, spelled=token.value)
        token.lineno, token.column, token.filename = span.line, span.column, span.file
        self.lengths.setdefault((span.file, span.line, span.column), span.length)
        if not written:
            self.expansions.add((span.file, span.line, span.column))
        return token

    def _refuse(self, span: Span, message: str, hint: str, code: Code = Code.SYNTAX) -> None:
        self.errors.append(Diagnostic(message, span, hint, code=code))

    # -- attributes: hidden from the grammar

    def _fold(self, tokens: list[Token]) -> list[Token]:
        out: list[Token] = []
        k = 0
        while k < len(tokens):
            token = tokens[k]
            if token.type == "ID" and token.value in ("__attribute__", "__attribute"):
                k, attributes = _attribute(tokens, k)
                if out and out[-1].type == "COMMA" and (name := _declarator(tokens, k)) is not None:
                    self.attributes += attributes
                    self._trail(name, attributes)
                    continue
                self._attach(
                    out, _after_attributes(tokens, k, bool(out) and out[-1].type in _AFTER_STATEMENT), token, attributes
                )
                continue
            if token.type == "ID" and (token.value in STREAM_WORDS or token.value in ACCESS_WORDS):
                self._stream_word(token, _after_attributes(tokens, k + 1))
            out.append(token)
            k += 1
        return out

    def _stream_word(self, token: Token, following: Token | None) -> None:
        """Present ``channel``, ``pipe`` and their access words to the grammar as qualifiers, where they are meant as
        such."""
        if following is None:
            return
        word = STREAM_WORDS.get(token.value)
        if word and following.type in _JOINS_TYPE - {"TIMES"}:
            token.type, token.value = "VOLATILE", Word(word, token.value.span)
        elif token.value in ACCESS_WORDS and following.type in _JOINS_TYPE - {"TIMES"}:
            token.type, token.value = "VOLATILE", Word(ACCESS_WORDS[token.value], token.value.span)

    def _attach(
        self, out: list[Token], following: Token | None, token: Token, attributes: tuple[Attribute, ...]
    ) -> None:
        place = (token.lineno, token.column, token.filename)
        span = token.value.span
        before = out[-1].type if out else "SEMI"
        if following is None or following.type not in _LOOPS or before not in _AFTER_STATEMENT:
            self.attributes += attributes
        struct = following if before in ("STRUCT", "UNION") else _closed_struct(out) if before == "RBRACE" else None
        if struct is not None:
            place = (struct.filename, struct.lineno, struct.column)
            self.struct_attributes.setdefault(place, []).extend(attributes)
            return
        if following is not None and following.type in _LOOPS and before in _AFTER_STATEMENT:
            for attribute in attributes:
                text = f"__attribute__ {attribute.name} {attribute.arguments}"
                out.append(Token("PPPRAGMA", Word("pragma", span), *place))
                out.append(Token("PPPRAGMASTR", Word(text, attribute.span), *place))
        elif following is not None and following.type == "LBRACE" and before in _AFTER_STATEMENT:
            return  # of a block, which is not supported in hardware
        elif following is not None and following.type in _JOINS_TYPE and before not in ("RPAREN", "RBRACKET"):
            out.append(Token("VOLATILE", Word("__attribute__", span, attributes), *place))
        else:
            name = _declared_name(out)
            if name is None:
                self._refuse(span, "this attribute belongs to nothing", "write it at a declaration or a loop")
                return
            self._trail(name, attributes)

    def _trail(self, name: Token, attributes: tuple[Attribute, ...]) -> None:
        name.value.attributes = (*name.value.attributes, *attributes)


def _declarator(tokens: list[Token], k: int) -> Token | None:
    """The name of the declarator that begins at ``k``, after a comma and attributes; None if a type begins there."""
    while k < len(tokens) and tokens[k].type == "TIMES":
        k += 1
    following = tokens[k + 1].type if k + 1 < len(tokens) else ""
    return tokens[k] if following in _BEHIND_NAME and tokens[k].type == "ID" else None


def _name_types_again(tokens: list[Token]) -> None:
    """Make a name of each type of OpenCL C that a typedef declares again, as headers for several languages do."""
    depth, inside = 0, False
    for before, token, following in zip(tokens, tokens[1:], tokens[2:]):
        inside = inside or before.type == "TYPEDEF"
        depth += (token.type in _OPENS) - (token.type in _CLOSES)
        ends = depth == 0 and following.type in ("SEMI", "COMMA")
        if inside and ends and token.value in TYPE_WORDS and before.type in _ENDS_TYPE:
            token.type = "ID"
        if depth == 0 and token.type == "SEMI":
            inside = False


def _after_attributes(tokens: list[Token], k: int, labels: bool = False) -> Token | None:
    """The token at ``k``, or the first after the attributes (and, with ``labels``, statement labels and pragmas) that
    begin there."""
    while k < len(tokens):
        if tokens[k].value in ("__attribute__", "__attribute"):
            k, _ = _attribute(tokens, k)
        elif labels and tokens[k].type == "ID" and k + 1 < len(tokens) and tokens[k + 1].type == "COLON":
            k += 2
        elif labels and tokens[k].type in ("PPPRAGMA", "PPPRAGMASTR"):
            k += 1
        else:
            return tokens[k]
    return None


def _attribute(tokens: list[Token], k: int) -> tuple[int, tuple[Attribute, ...]]:
    """The index after the ``__attribute__`` at ``k``, and its entries."""
    start = tokens[k]
    opens = [t.type for t in tokens[k + 1 : k + 3]]
    if opens != ["LPAREN", "LPAREN"]:
        raise CompileError.at(
            start.value.span, "expected '((' after __attribute__", "write __attribute__((name))", code=Code.SYNTAX
        )
    k, entries, current, depth = k + 3, [], [], 0
    while k < len(tokens):
        token = tokens[k]
        if token.type == "RPAREN" and depth == 0:
            break
        depth += (token.type == "LPAREN") - (token.type == "RPAREN")
        if token.type == "COMMA" and depth == 0:
            entries, current = [*entries, current], []
        else:
            current.append(token)
        k += 1
    if k + 1 >= len(tokens) or tokens[k + 1].type != "RPAREN":
        raise CompileError.at(
            start.value.span, "__attribute__ is not closed", "write __attribute__((name))", code=Code.SYNTAX
        )
    return k + 2, tuple(_entry(e) for e in [*entries, current] if e)


def _entry(tokens: list[Token]) -> Attribute:
    name = tokens[0].value.strip("_") or str(tokens[0].value)
    return Attribute(name, " ".join(t.value for t in tokens[2:-1]), tokens[0].value.span)


def _closed_struct(out: list[Token]) -> Token | None:
    """The tag, or else the opening brace, of the struct or union that the preceding brace closes."""
    k, depth = len(out) - 1, 0
    while k >= 0:
        depth += (out[k].type == "RBRACE") - (out[k].type == "LBRACE")
        if depth == 0:
            break
        k -= 1
    kinds = [t.type for t in out[max(0, k - 2) : k]]
    if kinds[-1:] in (["STRUCT"], ["UNION"]):
        return out[k]
    return out[k - 1] if kinds[-1:] == ["ID"] and kinds[0] in ("STRUCT", "UNION") else None


def _declared_name(out: list[Token]) -> Token | None:
    """The name declared by the declarator that ends here, before its ``[...]`` and ``(...)``."""
    k, depth = len(out) - 1, 0
    while k >= 0:
        kind = out[k].type
        depth += (kind in ("RPAREN", "RBRACKET")) - (kind in ("LPAREN", "LBRACKET"))
        if depth == 0 and kind == "ID":
            return out[k]
        if depth == 0 and kind in ("SEMI", "LBRACE", "RBRACE", "COMMA"):
            return None
        k -= 1
    return None
