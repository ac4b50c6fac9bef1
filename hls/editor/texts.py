"""The texts that an editor has open, in the lines of the protocol: these end with a line feed, a carriage return, or
both. pygls splits at form feeds and other characters, too, and would put an edit into the wrong line."""

import io
from collections.abc import Sequence

from lsprotocol import types as lsp
from pygls.workspace import TextDocument, Workspace

__all__ = ["Text", "Texts", "lines_of"]


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text, with their ends."""
    return tuple(io.StringIO(text, newline=""))


class Text(TextDocument):
    """A text in the lines of the protocol."""

    @property
    def lines(self) -> Sequence[str]:
        """Its lines, with their ends."""
        return lines_of(self.source)


class Texts(Workspace):
    """All texts that are open."""

    @classmethod
    def of(cls, other: Workspace) -> "Texts":
        """In place of a workspace in which no text was opened yet."""
        return cls(other.root_uri, other._sync_kind, list(other.folders.values()), other.position_encoding)

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> Text:
        kind: lsp.TextDocumentSyncKind = self._sync_kind
        return Text(doc_uri, source, version, language_id, sync_kind=kind, position_codec=self.position_codec)
