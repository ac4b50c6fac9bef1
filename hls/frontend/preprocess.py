"""The C preprocessor (pcpp), and the origin of each character of its output.

Messages refer to locations in the user's own text. A token of the user keeps its location; a token of a macro's body
gets the location where the macro's name was used; a macro argument keeps its own.
"""

import functools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from pcpp import Action, OutputDirective
from pcpp.preprocessor import Macro

from ..diag import Code, CompileError, Diagnostic, Span
from ..predefined import PREDEFINED
from .conditions import mend_numbers
from .directive_operands import NEED_OPERAND, CheckingPreprocessor
from .foreign_words import foreign_include
from .guard import CHARACTERS_FOR_EACH, DEEPEST_INCLUDE, EXPANDED_FOR_EACH, MOST_EXPANDED, MOST_READ, check_source
from .included import Files, NotRegular, in_lines, readable
from .line_markers import FileLines, Marked, Presumed

__all__ = ["HEADERS", "Expanded", "preprocess", "with_macro"]

_KNOWN = NEED_OPERAND | {"else", "endif", "error", "warning", "line"}
#: the folder of headers provided for all programs
HEADERS = Path(__file__).parent / "headers"
_PROVIDED = frozenset(path.name for path in HEADERS.glob("*.h"))
_LAST_LINE = (1 << 31) - 1  #: that #line may name
#: tokens expanded at a time, and tokens after which the text may be split
_PIECE, _ENDS_PIECE = 100, frozenset(";{},=+-*/&|<>")
#: what to do about an error of pcpp, by how its message begins
_CONDITION_HINTS = {
    "Unterminated": "write #endif where the condition ends",
    "Misplaced": "no #if is open here: remove this line, or write #if where the condition begins",
}
_CONDITION_FAILED = re.compile(r"Could not evaluate expression")

mend_numbers()


@dataclass
class Expanded:
    """Preprocessed text with its origins.

    ``starts[k]`` is the offset in ``text`` of the k-th piece and ``spans[k]`` its location in the source.
    """

    text: str
    starts: list[int]
    spans: list[Span]
    exact: list[bool]  #: the piece is the user's own text, so an offset into it is an offset into the source
    sources: dict[str, str] = field(default_factory=dict)
    macros: dict[str, Span] = field(default_factory=dict)  #: locations of the program's macro definitions
    warnings: list[Diagnostic] = field(default_factory=list)
    marked: frozenset[str] = frozenset()  #: files named by line markers, whose macros are expanded already

    def span(self, offset: int, length: int = 1) -> Span | None:
        """The location of ``length`` characters at ``offset``; None in an empty text."""
        if not self.starts:
            return None
        k = max(0, bisect_right(self.starts, offset) - 1)
        piece = self.spans[k]
        if not self.exact[k]:
            return piece
        return Span(piece.file, piece.line, piece.column + offset - self.starts[k], length)

    def is_written(self, offset: int) -> bool:
        """Whether the text at ``offset`` is the user's own; False for what a macro expanded to, or may have."""
        if not self.starts:
            return True
        k = max(0, bisect_right(self.starts, offset) - 1)
        return self.exact[k] and self.spans[k].file not in self.marked


class _Origin(str):
    """A file name that includes line and column.

    pcpp copies a token's ``source`` from a macro's name to all tokens that it expands to, and passes it to
    ``on_error``: in this way the location is passed on, too.
    """

    span: Span

    def __new__(cls, span: Span):
        self = super().__new__(cls, span.file)
        self.span = span
        return self


def with_macro(d: Diagnostic, expanded: Expanded) -> Diagnostic:
    """The message, with a note if it concerns the expansion of a macro: its location is that of the macro's name."""
    lines = expanded.sources.get(d.span.file, "").splitlines() if d.span else []
    if not d.span or not 0 < d.span.line <= len(lines) or not d.span.column:
        return d
    word = re.match(r"\w+", lines[d.span.line - 1][d.span.column - 1 :])
    place = expanded.macros.get(word[0]) if word else None
    if word is None or place is None or place == d.span:
        return d
    return replace(
        d, notes=(*d.notes, Diagnostic(f"in the macro '{word[0]}', which is defined here", place, severity="note"))
    )


class _OpenCLPreprocessor(CheckingPreprocessor):
    """pcpp with locations on tokens and with messages collected instead of printed."""

    def __init__(self, main_file: str, files: Files) -> None:
        self.main_file = main_file
        self.files = files
        self.including = 0  #: nesting depth of includes
        self.sources: dict[str, str] = {}
        self.marked = Marked()
        self.diagnostics: list[Diagnostic] = []
        self.defined: dict[str, Span] = {}  #: location of the first definition of each macro
        self.read = 0  #: tokens read from files
        self.expanded = self.characters = 0  #: tokens that macros expanded to, and their characters
        self.depth = 0  #: nesting depth of macro expansion
        self.balanced = True  #: the parentheses in every macro are balanced in number
        self.presumed: Presumed | None = None  #: what a #line said that was read just now
        super().__init__()
        self.lastdirective = None

    def on_unknown_macro_in_defined_expr(self, tok) -> bool:
        """Whether ``#ifdef`` takes the name for that of a macro: of those that pcpp expands without a definition."""
        super().on_unknown_macro_in_defined_expr(tok)
        return tok.value in ("__LINE__", "__COUNTER__")

    # -- locations

    def group_lines(self, input, abssource):
        name, input = abssource if self.sources else self.main_file, in_lines(input)
        self.sources.setdefault(name, readable(input))
        self.read += check_source(input, name)
        if self.read > MOST_READ:
            raise CompileError.at(
                self._place() or Span(name, 1),
                f"this file and what it includes are more than {MOST_READ:,} words and signs",
                "pass large tables as __global const arguments",
                code=Code.SOURCE_TOO_LARGE,
            )
        lines = FileLines(name, input, self.marked)
        for tokens in super().group_lines(input, name):
            line = [*self.whole_numbers(tokens)]
            for token in line:
                lines.locate(token)
                token.source = _Origin(token.place)
            yield line
            said, self.presumed = self.presumed, None  # that line was #line, and not left out by a condition
            if said is not None:
                lines.follow(said)
                yield from self._renaming(said)

    def _renaming(self, said: Presumed) -> Iterator[list]:
        """The line by which ``__FILE__`` has another value from here on, to the end of the file."""
        if said.file is not None:
            tokens = self.tokenize(f"#define __FILE__ {said.file}\n")
            for token in tokens:
                token.place = token.real = said.place
                token.source = _Origin(said.place)
            yield tokens

    def _spend(self, tokens: list):
        """Reject macros that expand without bound."""
        self.expanded += len(tokens)
        self.characters += sum(len(token.value) for token in tokens)
        most = MOST_EXPANDED + EXPANDED_FOR_EACH * self.read
        if self.expanded > most or self.characters > CHARACTERS_FOR_EACH * most:
            source = tokens[0].source
            place = source.span if isinstance(source, _Origin) else self._place()
            many = f"{most:,} words and signs" if self.expanded > most else f"{CHARACTERS_FOR_EACH * most:,} characters"
            raise CompileError.at(
                place,
                f"macros become more than {many} here",
                "write the macro as a function",
                code=Code.MACRO_TOO_LARGE,
            )

    def expand_macros(self, tokens, expanding_from=[]):  # noqa: B006 - pcpp's signature
        if not self.depth:  # text of a file, which was counted when it was read
            return [token for piece in self._pieces(tokens) for token in self._expand(piece, expanding_from)]
        if tokens:
            self._spend(tokens)
        return self._expand(tokens, expanding_from)

    def _expand(self, tokens: list, expanding_from: list) -> list:
        self.depth += 1
        try:
            return super().expand_macros(tokens, expanding_from)
        finally:
            self.depth -= 1

    def _pieces(self, tokens: list) -> Iterator[list]:
        """The tokens in parts that expand independently: pcpp copies everything after a macro call, so that time would
        grow quadratically with the file. No call can extend past a token outside parentheses, unless a macro expands to
        a single parenthesis."""
        begin = depth = 0
        for k, token in enumerate(tokens):
            if token.value == "(":
                depth += 1
            elif token.value == ")":
                depth = max(0, depth - 1)
            elif not depth and k - begin > _PIECE and token.value in _ENDS_PIECE and self.balanced:
                yield tokens[begin : k + 1]
                begin = k + 1
        yield tokens[begin:]

    def define(self, tokens) -> None:
        # from -D, or predefined: not the user's text, but tokens that touch there touch in use
        if isinstance(tokens, str):
            tokens = self.tokenize(tokens)
            for token in tokens:
                token.place = Span(f"-D {tokens[0].value}", 1, token.lexpos + 1, len(token.value))
        elif tokens[0].value != "__FILE__":
            self.defined.setdefault(tokens[0].value, tokens[0].place)
        for token in tokens:
            token.in_macro = True
        words = [token.value for token in tokens]
        self.balanced &= words.count("(") == words.count(")")
        super().define(tokens)

    # -- messages

    def report(
        self, span: Span | None, message: str, hint: str = "", severity: str = "error", code: Code | None = None
    ) -> None:
        code = code or (Code.PREPROCESSOR if severity == "error" else Code.PREPROCESSOR_WARNING)
        self.diagnostics.append(Diagnostic(message, span, hint, severity, code=code))

    def raise_errors(self) -> None:
        errors = [d for d in self.diagnostics if d.severity == "error"]
        if errors:
            raise CompileError(*errors)

    def _place(self, source=None) -> Span | None:
        if isinstance(source, _Origin):
            return source.span
        return self.lastdirective.place if self.lastdirective is not None else None

    def on_error(self, file, line, msg) -> None:
        if _CONDITION_FAILED.match(msg):
            msg = "the condition is not a constant integer expression"
        hint = next((hint for begin, hint in _CONDITION_HINTS.items() if msg.startswith(begin)), "")
        self.report(self._place(file), (msg[:1].lower() + msg[1:]).strip(), hint)

    def unpasted(self, left, right) -> None:
        text = f"{left.value}{right.value}"
        self.report(
            getattr(left, "place", None) or self._place(left.source),
            f"'{left.value}' ## '{right.value}' makes '{text}', which is no token: they stay two",
            "write them side by side, without ##",
            severity="warning",
        )

    def on_include_not_found(self, is_malformed, is_system_include, curdir, includepath):
        if is_malformed:
            self.report(self._place(), "malformed #include", 'write #include "file.h" or #include <file.h>')
        else:
            if includepath in _PROVIDED:
                return str(HEADERS)
            self.report(self._place(), *self._not_found(includepath), code=Code.INCLUDE)
        raise OutputDirective(Action.IgnoreAndRemove)

    def _not_found(self, path: str) -> tuple[str, str]:
        """The message for a missing file, and the hint."""
        foreign = foreign_include(path)
        if foreign or not self.files.roots:
            return f"file '{path}' not found", foreign or "add its folder with -I DIR"
        return (
            f"file '{path}' not found in the folders that --include-root allows",
            "copy it there, or allow its folder by another --include-root",
        )

    def on_file_open(self, is_system_include, includepath):
        try:
            return self.files.open(includepath)
        except NotRegular:
            raise CompileError.at(
                self._place(), f"'{includepath}' is no regular file", "include files of text only", code=Code.INCLUDE
            ) from None

    def include(self, tokens, original_line):
        self.including += 1
        if self.including > DEEPEST_INCLUDE:
            raise CompileError.at(
                self._place(),
                f"files include each other more than {DEEPEST_INCLUDE} deep",
                "guard a header by #ifndef or #pragma once",
                code=Code.INCLUDE,
            )
        yield from super().include(tokens, original_line)
        self.including -= 1

    # -- directives

    def on_directive_handle(self, directive, toks, ifpassthru, precedingtoks) -> bool:
        self.lastdirective = directive
        name = directive.value
        if name == "pragma" and not toks:  # as C has it, this says nothing
            raise OutputDirective(Action.IgnoreAndRemove)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def on_directive_unknown(self, directive, toks, ifpassthru, precedingtoks):
        text = "".join(token.value for token in toks).strip()
        if directive.value == "pragma":
            words = (
                self.expand_macros([self._fresh(t) for t in toks]) if toks[0].value not in ("OPENCL", "STDC") else toks
            )
            precedingtoks[0].pragma = "".join(token.value for token in words).strip()  # a header may be read again
            return None
        if directive.value in ("error", "warning"):
            self.report(directive.place, f"#{directive.value} {text}", severity=directive.value)
        elif directive.value == "line" or directive.type == self.t_INTEGER:  # `# 7 "file"`, as preprocessors write
            self._presume(directive, [directive, *toks] if directive.value != "line" else self.expand_macros(toks))
        else:
            near = get_close_matches(directive.value, sorted(_KNOWN), 1)
            hint = f"did you mean '#{near[0]}'?" if near else "a line that begins with # is for the preprocessor"
            self.report(directive.place, f"unknown directive '#{directive.value}'", hint)
        return True

    def _presume(self, directive, toks: list) -> None:
        """What ``#line`` says of the lines that follow; messages name the real file, unless it is a line marker of a
        preprocessor."""
        words = [token for token in toks if token.value.strip()]
        number = words[0].value if words else ""
        is_marker = directive.value != "line"
        least = 0 if is_marker else 1  # GCC begins with `# 0 "file"`
        if not number.isdecimal() or not least <= int(number) <= _LAST_LINE:
            self.report(directive.place, f"#line needs the number of the next line, 1 to {_LAST_LINE}")
        elif len(words) > 1 and words[1].type != self.t_STRING:
            self.report(words[1].place, "the file's name in #line is a text in quotes")
        else:
            name = words[1].value if len(words) > 1 else None
            self.presumed = Presumed(int(number), name, directive.real, is_marker)

    def expand_operator(self, text) -> None:
        """The text of ``_Pragma(text)`` with macros expanded, as after ``#pragma``."""
        inside = re.sub(r"\\([\"\\])", r"\1", text.value[1:-1])
        if inside.split()[:1] in ([], ["OPENCL"], ["STDC"]):
            return
        words = self.tokenize(inside)
        for word in words:
            word.source = text.source
        found = "".join(word.value for word in self.expand_macros(words))
        text.value = '"' + re.sub(r'["\\]', r"\\\g<0>", found) + '"'

    @staticmethod
    def _fresh(token):
        copy = type(token)()
        copy.__dict__.update(token.__dict__)
        return copy


def preprocess(
    text: str,
    file: str,
    defines: Mapping[str, str],
    include_dirs: Iterable[str],
    known_as: Mapping[str, str] = MappingProxyType({}),
    roots: Iterable[str | Path] = (),
) -> Expanded:
    """Preprocess ``text``. ``defines`` maps a name, or ``name(arguments)``, to its replacement; ``known_as`` maps a
    folder to its name in the locations of its files, "" for none. With ``roots``, no file outside these folders is
    read.

    Raises CompileError with every problem found.
    """
    roots = [*roots]
    cpp = _OpenCLPreprocessor(file, Files([*roots, *known_as, HEADERS] if roots else ()))
    cpp.rewrite_paths[:0] = [
        (re.escape(f"{Path(folder).absolute()}/") + "(.*)", rf"{name}/\1" if name else r"\1")
        for folder, name in known_as.items()
    ]
    for folder in include_dirs:
        cpp.add_path(str(folder))
    cpp.macros = _predefined() | cpp.macros
    for name, value in defines.items():
        if not re.fullmatch(r"[A-Za-z_]\w*(\([\w, .]*\))?", name):
            raise CompileError.at(
                None, f"-D {name}: this is not a name of a macro", "write -D NAME=VALUE", code=Code.OPTIONS
            )
        cpp.define(f"{name} {value}")
    tokens = _run(cpp, text, file)
    cpp.raise_errors()
    expanded = _join(tokens, cpp)
    cpp.raise_errors()
    return expanded


@functools.cache
def _predefined() -> dict[str, Macro]:
    """The macros that every program sees, read once; an expansion copies the tokens of a macro."""
    cpp = _OpenCLPreprocessor("", Files(()))
    for name, value in PREDEFINED.items():
        cpp.define(f"{name} {value}")
    return cpp.macros


def _run(cpp: _OpenCLPreprocessor, text: str, file: str) -> list:
    cpp.parse(text, file)
    tokens = []
    try:
        while token := cpp.token():
            tokens.append(token)
    except CompileError as error:
        raise CompileError(*cpp.diagnostics, *error.diagnostics) from None
    except RecursionError:
        raise CompileError.at(
            cpp._place(), "files include each other, or macros nest, too deeply", code=Code.NESTED_TOO_DEEP
        ) from None
    except (UnicodeDecodeError, IndexError, AttributeError, TypeError, ValueError) as error:
        # pcpp indexes into malformed directives without checking
        place = cpp._place()
        raise CompileError(
            *cpp.diagnostics, Diagnostic(f"malformed preprocessor directive ({error})", place, code=Code.PREPROCESSOR)
        ) from None
    return tokens


def _join(tokens: list, cpp: _OpenCLPreprocessor) -> Expanded:
    """The text of the tokens. Tokens that touched in the source touch in the text (``1`` ``.`` ``5f``); no others
    do."""
    out = _Writer(cpp)
    skip_line = False
    before = ["", ""]
    for token in tokens:
        newline = "\n" in token.value
        if before == ["_Pragma", "("] and token.value[0] == '"':
            cpp.expand_operator(token)
        if token.value.strip():
            before = [before[1], token.value]
        if skip_line:
            skip_line = not newline
            continue
        if token.type in cpp.t_WS or not token.value.strip():
            out.touching = None
        elif token.value == "#":
            out.pragma(token)
            skip_line = True
        else:
            out.token(token)
    result = out.result
    result.text = "".join(out.parts)
    result.marked = cpp.marked.files
    result.sources, result.macros = cpp.marked.texts() | cpp.sources, dict(cpp.defined)
    result.warnings = [d for d in cpp.diagnostics if d.severity == "warning"]
    return result


class _Writer:
    def __init__(self, cpp) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.touching: tuple | None = None  #: end of the last token, in its source file
        self.last = Span(cpp.main_file, 1, 1)
        self.result = Expanded("", [], [], [])

    def _put(self, text: str, span: Span, exact: bool) -> None:
        self.result.starts.append(self.length)
        self.result.spans.append(span)
        self.result.exact.append(exact)
        self.last = span
        self._raw(text)

    def _raw(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def token(self, token) -> None:
        own: Span | None = getattr(token, "place", None)
        if (own.file, own.line, own.column) != self.touching if own else True:
            self._raw(" ")
        from_macro = own is None or getattr(token, "in_macro", False) or token.type is None
        source = getattr(token, "source", None)
        used = source.span if isinstance(source, _Origin) else self.last
        self._put(token.value, used if own is None or from_macro else own, not from_macro)
        self.touching = (own.file, own.line, own.column + len(token.value)) if own else None

    def pragma(self, token) -> None:
        text = getattr(token, "pragma", None)  #: with macros expanded
        if text is None:
            span = token.source.span if isinstance(token.source, _Origin) else self.last
            raise CompileError.at(span, "stray '#'", "a directive begins its own line", code=Code.PREPROCESSOR)
        self._raw("\n")
        self._put(f"#pragma {text}", token.place, False)
        self._raw("\n")
        self.touching = None
