"""The state of the language server: settings, texts and project files, and what the editor is shown of them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import from_fs_path
from pygls.workspace import TextDocument

from ..options import Options
from ..target.board import board_and_clock
from .analysis import Answer, Request, names_elsewhere
from .convert import Converter
from .marks import Hint
from .measured import Profiles
from .projects import Projects, Watched
from .session import Session
from .texts import lines_of

__all__ = ["Server", "Settings"]

#: seconds between looks at project files and board files
WATCHING = 0.5


@dataclass(frozen=True)
class Settings:
    """How the programs of a session are compiled: of the command line, and of the editor where it says otherwise.
    ``named`` says that one of these names the board: then it is not that of a project file."""

    board: str
    options: Options
    named: bool = False

    def changed(self, given: object) -> "Settings":
        """With the editor's ``initializationOptions``: ``board``, ``defines`` (name to text), ``includeDirs``,
        ``fpRelaxed``, ``fpc``. Raises ValueError for other names, TypeError for values of another type."""
        if given is None:
            return self
        if not isinstance(given, dict):
            raise TypeError("the settings must be an object")
        types = {"board": str, "defines": dict, "includeDirs": list, "fpRelaxed": bool, "fpc": bool}
        for name, value in given.items():
            if name not in types:
                raise ValueError(f"there is no setting {name!r}; there are {', '.join(types)}")
            if not isinstance(value, types[name]):
                raise TypeError(f"the setting {name!r} must be of type {types[name].__name__}")
        options = self.options
        return Settings(
            given.get("board") or self.board,
            replace(
                options,
                defines=options.defines | {name: str(value) for name, value in given.get("defines", {}).items()},
                include_dirs=(*options.include_dirs, *map(Path, given.get("includeDirs", ()))),
                fp_relaxed=given.get("fpRelaxed", options.fp_relaxed),
                fpc=given.get("fpc", options.fpc),
            ),
            self.named or bool(given.get("board")),
        )


class _Protocol(LanguageServerProtocol):
    """The protocol without what is left of notifications: the library keeps the future of each for ever, so that every
    key that is typed would take memory."""

    def _execute_handler(self, msg_id: Any, *given: Any, **named: Any) -> None:
        super()._execute_handler(msg_id, *given, **named)
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))


class Server(LanguageServer):
    """The server of one editor."""

    def __init__(self, settings: Settings, version: str) -> None:
        super().__init__("sluice", version, protocol_cls=_Protocol)
        self.settings = settings
        self.session = Session(self.show)
        self.projects = Projects()
        self.watched = Watched()
        self.profiles = Profiles()
        self.of_projects: set[str] = set()  #: the URIs of project files with messages
        self.watching: asyncio.Task[None] | None = None
        self.coloured: dict[str, Mapping[str, str]] = {}  #: by the URI of a text, the names of its headers
        self.shown: dict[str, set[str]] = {}  #: by the URI of a text, those of the files that it has messages in

    def document(self, uri: str) -> TextDocument:
        """The text as the editor has it; an empty one if it is not open, also where there is no such file."""
        return self.workspace.text_documents.get(uri) or TextDocument(uri, source="")

    def converter(self, uri: str) -> Converter:
        """From our places in a text to the editor's."""
        document = self.document(uri)
        return Converter(document.path, uri, document.lines, document.position_codec)

    def request(self, uri: str) -> Request:
        """The text as it is now."""
        document = self.document(uri)
        project, settings = self.projects.of(Path(document.path).parent), self.settings
        self.show_projects()
        board, options = settings.board, settings.options
        if project is not None:
            options = project.applied(options)
            board = board if settings.named else project.board_or(board)
        return Request(document.source, document.path, board, options)

    def home(self, uri: str) -> Path:
        """The folder of the text's project, else its own."""
        folder = Path(self.document(uri).path).parent
        project = self.projects.of(folder)
        return Path(project.file).resolve().parent if project is not None else folder

    def hosts(self, uri: str) -> list[str]:
        """The host programs of the text's project."""
        project = self.projects.of(Path(self.document(uri).path).parent)
        return list(project.values.get("hosts", ())) if project is not None else []

    def hints(self, uri: str) -> tuple[Hint, ...]:
        """What the plan says of the text, and what was measured of it."""
        document, planned = self.document(uri), self.session.answer(uri).hints
        if not planned:
            return ()
        return (*planned, *self.profiles.hints(self.home(uri), document.source, planned, document.path))

    def changed(self, uri: str) -> None:
        """The text is another one now."""
        self.session.changed(uri, lambda: self.request(uri))

    def show_projects(self) -> None:
        """Send the errors of project files, and take those away that are mended."""
        found: dict[str, list[lsp.Diagnostic]] = {}
        for file, text, errors in self.projects.errors():
            uri = from_fs_path(file) or file
            codec = self.workspace.position_codec
            convert = Converter(file, uri, lines_of(text), codec)
            found[uri] = [convert.diagnostic(one, self._shows_related()) for one in errors]
        for uri in self.of_projects - found.keys():
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))
        for uri, messages in found.items():
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, messages))
        self.of_projects = set(found)

    async def watch(self) -> None:
        """Look at all texts again when a project file or a board file has changed, been made or removed."""
        while True:
            self.look()
            await asyncio.sleep(WATCHING)

    def look(self) -> None:
        """Look at all texts again if a project file or a board file has changed since the last call."""
        folders = {Path(one.path).parent for one in self.workspace.text_documents.values()}
        if self.watched.changed(folders, self._board_files()):
            for uri in list(self.workspace.text_documents):
                self.changed(uri)
        if self.profiles.changed({self.home(uri) for uri in self.workspace.text_documents}):
            self._refresh()

    def _board_files(self) -> set[Path]:
        boards = {self.settings.board, *(one.board for one in self.projects.good() if one.board)}
        names = (board_and_clock(one)[0] for one in boards)
        return {Path(one) for one in names if one.endswith(".toml") or "/" in one}

    def show(self, uri: str, answer: Answer) -> None:
        """Send the messages of an answer, and let the editor ask for its hints."""
        found = self.converter(uri).by_file(answer.messages, self._shows_related())
        found |= {file: [] for file in self.shown.get(uri, set()) if file not in found}
        self.shown[uri] = {file for file, messages in found.items() if messages}
        for file, messages in sorted(found.items(), key=lambda one: one[0] == uri):  # those of other files first
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(file, messages))
        if answer.planned:
            self._refresh()
        self._colour(uri)

    def _colour(self, uri: str) -> None:
        """Let the editor ask for the kinds of words again when headers declare others than before."""
        known, can = names_elsewhere(self.document(uri).path), self.client_capabilities.workspace
        if known != self.coloured.get(uri, {}):
            self.coloured[uri] = known
            if can and can.semantic_tokens and can.semantic_tokens.refresh_support:
                self.workspace_semantic_tokens_refresh(None)

    def forget(self, uri: str) -> None:
        """The text is not open any more: take its messages away."""
        self.session.closed(uri)
        self.coloured.pop(uri, None)
        for file in self.shown.pop(uri, set()) | {uri}:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(file, []))

    def _shows_related(self) -> bool:
        shown = getattr(self.client_capabilities.text_document, "publish_diagnostics", None)
        return bool(getattr(shown, "related_information", False))

    def _refresh(self) -> None:
        can = self.client_capabilities.workspace
        if can and can.inlay_hint and can.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)
        if can and can.code_lens and can.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
