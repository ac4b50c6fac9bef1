"""The language server: requests of an editor, answered by the functions beside it."""

import asyncio
import logging
import os
import sys
from typing import Any

from lsprotocol import types as lsp
from pygls.workspace import TextDocument

from .analysis import names_elsewhere
from .changes import register as register_changes
from .convert import completion, hover
from .rename import Declaration, declaration_of
from .runs import Runs
from .runs import register as register_runs
from .scan import definitions, symbols, word_at
from .server import Server, Settings
from .texts import Texts
from .vocabulary import Word, complete, describe

__all__ = ["make_server", "serve"]


def make_server(settings: Settings, version: str) -> Server:
    """A server that is not started yet."""
    server = Server(settings, version)
    runs = register_runs(server)
    _texts(server, runs)
    _marks(server, runs)
    _names(server)
    register_changes(server)
    return server


def serve(settings: Settings, version: str) -> None:
    """Serve the editor on standard input and output until it says so, or is gone."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library that prints must not write into the protocol
    server = make_server(settings, version)
    try:
        server.start_io(sys.stdin.buffer, output)
    finally:
        server.session.end()


def _texts(server: Server, runs: Runs) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.protocol._workspace = Texts.of(server.workspace)
        try:
            server.settings = server.settings.changed(params.initialization_options)
            server.session.advising = getattr(params.capabilities.text_document, "code_action", None) is not None
        except (TypeError, ValueError) as error:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, f"sluice: {error}"))

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        server.watching = asyncio.get_running_loop().create_task(server.watch())

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.look()  # from now on, also at this text's project
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        # a header that others include, or a board file, may have changed
        for uri in list(server.workspace.text_documents):
            server.changed(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(*_: Any) -> None:
        if server.watching is not None:
            server.watching.cancel()
        runs.end()
        server.session.end()


def _marks(server: Server, runs: Runs) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        uri = params.text_document.uri
        convert = server.converter(uri)
        found = map(convert.hint, server.hints(uri))
        first, last = params.range.start.line, params.range.end.line
        return [one for one in found if first <= one.position.line <= last]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def code_lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        return [*map(server.converter(uri).lens, server.session.answer(uri).lenses), *runs.lenses(uri)]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        uri = params.text_document.uri
        document = server.document(uri)
        return list(map(server.converter(uri).symbol, symbols(document.source, document.path)))


def _names(server: Server) -> None:
    def place(params: lsp.HoverParams | lsp.CompletionParams | lsp.DefinitionParams) -> tuple[TextDocument, str, int]:
        """The text, the line, and the column in characters."""
        document = server.document(params.text_document.uri)
        lines = document.lines
        if params.position.line >= len(lines):
            return document, "", 0
        at = document.position_codec.position_from_client_units(lines, params.position)
        return document, lines[params.position.line].rstrip("\r\n"), at.character

    async def declared(params: lsp.HoverParams | lsp.DefinitionParams, column: int) -> Declaration | None:
        """What the front end says of the name there."""
        request = server.request(params.text_document.uri)
        return await server.session.read(declaration_of, request, params.position.line, column)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        document, line, column = place(params)
        if known := await declared(params, column):
            where = f"line {known.span.line}" if known.span.file == document.path else str(known.span)
            kind, _, what = known.meaning.partition(", ")
            return hover(Word(known.name, "declared", ", ".join([kind, *([f"`{what}`"] if what else []), where])))
        found = describe(line, column, document.source, document.path)
        return hover(found) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION)
    def completed(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document, line, column = place(params)
        return list(
            map(completion, complete(line[:column], document.source, document.path, names_elsewhere(document.path)))
        )

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def defined(params: lsp.DefinitionParams) -> list[lsp.Location]:
        document, line, column = place(params)
        known = await declared(params, column)
        spans = [known.span] if known else definitions(document.source, document.path, word_at(line, column))
        convert = server.converter(params.text_document.uri)
        return [convert.location(span) for span in spans]
