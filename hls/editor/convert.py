"""What is known of a text in the types of the language server protocol. Its columns count UTF-16 units, from 0; ours
count characters, from 1."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec

from ..diag import Diagnostic, Span
from ..frontend.included import decoded
from .edits import Edit, line_start
from .marks import Hint, Lens
from .scan import Symbol
from .texts import lines_of
from .tokens import KINDS, MODIFIERS, Token
from .vocabulary import Word

__all__ = ["Converter", "completion", "hover"]

_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
_SYMBOLS = {
    "kernel": lsp.SymbolKind.Method,
    "function": lsp.SymbolKind.Function,
    "macro": lsp.SymbolKind.Constant,
    "channel": lsp.SymbolKind.Event,
    "type": lsp.SymbolKind.Class,
    "struct": lsp.SymbolKind.Struct,
}
_WORDS = {
    "builtin": lsp.CompletionItemKind.Function,
    "attribute": lsp.CompletionItemKind.Property,
    "pragma": lsp.CompletionItemKind.Keyword,
    "type": lsp.CompletionItemKind.Class,
    "kernel": lsp.CompletionItemKind.Method,
    "function": lsp.CompletionItemKind.Function,
    "macro": lsp.CompletionItemKind.Constant,
    "channel": lsp.CompletionItemKind.Event,
    "struct": lsp.CompletionItemKind.Struct,
}


class Converter:
    """Of the text of ``file``, known to the editor as ``uri``. Other files are read for their columns."""

    def __init__(self, file: str, uri: str, lines: Sequence[str], codec: PositionCodec) -> None:
        self.file, self.uri, self.lines, self.codec = file, uri, lines, codec
        self._others: dict[str, Sequence[str]] = {}

    def uri_of(self, file: str) -> str:
        """How the editor names a file of a message, which names it from the working directory on."""
        return self.uri if file == self.file else from_fs_path(str(Path(file).resolve())) or self.uri

    def range(self, span: Span) -> lsp.Range:
        """The place; the whole line where only that is known, and the nearest there is in a text that has become
        shorter."""
        lines = self.lines if span.file == self.file else self._lines_of(span.file)
        if not lines and span.file != self.file:
            start = max(0, span.column - 1)
            return _range(span.line - 1, start, start + span.length)
        line = min(span.line, max(1, len(lines))) - 1
        text = lines[line].rstrip("\r\n") if lines else ""
        start = min(max(0, span.column - 1), len(text))
        end = min(start + span.length, len(text)) if span.column else len(text)
        return _range(line, self._units(text[:start]), self._units(text[:end]))

    def _lines_of(self, file: str) -> Sequence[str]:
        """Those of another file; none of one that is gone by now."""
        if file not in self._others:
            try:
                self._others[file] = lines_of(decoded(Path(file).read_bytes()))
            except OSError:
                self._others[file] = ()
        return self._others[file]

    def location(self, span: Span) -> lsp.Location:
        """The place, in its file."""
        return lsp.Location(self.uri_of(span.file), self.range(span))

    def _units(self, text: str) -> int:
        return self.codec.client_num_units(text)

    def position(self, text: str, at: int) -> lsp.Position:
        """The place of an offset into the text."""
        start = line_start(text, at)
        return lsp.Position(text.count("\n", 0, at), self._units(text[start:at]))

    def edits(self, text: str, edits: Iterable[Edit]) -> list[lsp.TextEdit]:
        """The edits of the text."""
        return [
            lsp.TextEdit(lsp.Range(self.position(text, one.start), self.position(text, one.end)), one.new)
            for one in edits
        ]

    def tokens(self, found: Iterable[Token]) -> lsp.SemanticTokens:
        """The tokens, each by its distance from the one before."""
        data: list[int] = []
        line = column = 0
        for one in found:
            place = self.range(one.span)
            start, end = place.start, place.end
            modifiers = sum(1 << MODIFIERS.index(name) for name in one.modifiers)
            behind = start.character - (column if start.line == line else 0)
            data += [start.line - line, behind, end.character - start.character, KINDS.index(one.kind), modifiers]
            line, column = start.line, start.character
        return lsp.SemanticTokens(data)

    def diagnostic(self, one: Diagnostic, related: bool) -> lsp.Diagnostic:
        """The message; hints and notes are related information if the editor shows that, else they end its text."""
        assert one.span is not None
        more = [(one.span, f"hint: {one.hint}")] if one.hint else []
        more += [(note.span or one.span, note.message) for note in one.notes]
        more += [(note.span or one.span, f"hint: {note.hint}") for note in one.notes if note.hint]
        told = [] if related else [words for _, words in more]
        places = [lsp.Location(self.uri_of(span.file), self.range(span)) for span, _ in more]
        beside = [
            lsp.DiagnosticRelatedInformation(place, words) for place, (_, words) in zip(places, more, strict=True)
        ]
        return lsp.Diagnostic(
            range=self.range(one.span),
            message="\n".join([one.message, *told]),
            severity=_SEVERITIES[one.severity],
            code=one.code.number if one.code else None,
            source="sluice",
            related_information=beside if related else None,
        )

    def by_file(self, messages: Iterable[Diagnostic], related: bool) -> dict[str, list[lsp.Diagnostic]]:
        """The messages by the URI of their file; that of the text itself is always there."""
        found: dict[str, list[lsp.Diagnostic]] = {self.uri: []}
        for one in messages:
            assert one.span is not None
            found.setdefault(self.uri_of(one.span.file), []).append(self.diagnostic(one, related))
        return found

    def hint(self, one: Hint) -> lsp.InlayHint:
        """The hint, where its subject has it."""
        whole_line = Span(one.span.file, one.span.line)
        place = self.range(whole_line if one.subject in ("loop", "measured") else one.span)
        return lsp.InlayHint(
            position=place.start if one.subject == "access" else place.end,
            label=one.label,
            tooltip=lsp.MarkupContent(lsp.MarkupKind.Markdown, one.tooltip) if one.tooltip else None,
            padding_left=True,
            padding_right=True,
        )

    def lens(self, one: Lens) -> lsp.CodeLens:
        """The line above a kernel; it does nothing when it is clicked."""
        return lsp.CodeLens(self.range(one.span), lsp.Command(title=one.title, command=""))

    def symbol(self, one: Symbol) -> lsp.DocumentSymbol:
        """The symbol, from the beginning of its line to the end of its last."""
        name = self.range(one.span)
        last = self.range(Span(self.file, one.last_line))
        whole = lsp.Range(lsp.Position(name.start.line, 0), max(last.end, name.end, key=_key))
        return lsp.DocumentSymbol(one.name, _SYMBOLS[one.kind], whole, name, detail=one.kind)


def hover(word: Word) -> lsp.Hover:
    """What a word means, as the editor shows it."""
    text = f"**{word.name}**: {word.meaning}" if word.kind != "message" else word.meaning
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text))


def completion(word: Word) -> lsp.CompletionItem:
    """A word that may be typed."""
    return lsp.CompletionItem(word.name, kind=_WORDS[word.kind], detail=word.kind, documentation=word.meaning)


def _range(line: int, start: int, end: int) -> lsp.Range:
    return lsp.Range(lsp.Position(line, start), lsp.Position(line, end))


def _key(position: lsp.Position) -> tuple[int, int]:
    return position.line, position.character
