"""An editor that tests drive: pygls' own client, with `sluice lsp` at the other end of its pipes."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

__all__ = ["Editor", "applied", "editor"]

#: seconds that an answer may take on a machine with much else to do
PATIENCE = 30.0


class Editor:
    """One text in an editor. ``published`` has the messages of each file as they were sent last, ``times`` how often."""

    def __init__(self, client: LanguageClient, file: Path) -> None:
        self.client, self.uri = client, file.as_uri()
        self.version = 0
        self.published: dict[str, list[lsp.Diagnostic]] = {}
        self.times = 0
        self.refreshed = asyncio.Event()  #: the server has new hints
        self.told = asyncio.Event()
        self.shown: list[str] = []
        self.identifier = lsp.TextDocumentIdentifier(self.uri)

    def open(self, text: str) -> None:
        item = lsp.TextDocumentItem(self.uri, "opencl", self.version, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def change(self, text: str) -> None:
        self.edit(lsp.TextDocumentContentChangeWholeDocument(text))

    def edit(self, change: lsp.TextDocumentContentChangePartial | lsp.TextDocumentContentChangeWholeDocument) -> None:
        self.version += 1
        self.told.clear()
        self.refreshed.clear()
        identifier = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [change]))

    async def messages(self) -> list[lsp.Diagnostic]:
        """Those of the front end about the text as it is."""
        await asyncio.wait_for(self.told.wait(), PATIENCE)
        return self.published[self.uri]

    async def planned(self) -> None:
        await asyncio.wait_for(self.refreshed.wait(), PATIENCE)

    async def hints(self) -> list[lsp.InlayHint]:
        everywhere = lsp.Range(lsp.Position(0, 0), lsp.Position(10**6, 0))
        found = await self.client.text_document_inlay_hint_async(lsp.InlayHintParams(self.identifier, everywhere))
        return list(found or ())

    async def hints_at_last(self) -> list[lsp.InlayHint]:
        """The hints when there are some: a first look at a folder of profiles is a reason to ask for hints, too."""
        while True:
            await self.planned()
            self.refreshed.clear()
            if found := await self.hints():
                return found

    async def lenses(self) -> list[lsp.CodeLens]:
        return list(await self.client.text_document_code_lens_async(lsp.CodeLensParams(self.identifier)) or ())

    async def symbols(self) -> list[lsp.DocumentSymbol]:
        found = await self.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(self.identifier))
        return list(found or ())

    async def hover(self, line: int, column: int) -> str:
        """The text shown at a place (both from 0); "" if there is none."""
        place = lsp.HoverParams(self.identifier, lsp.Position(line, column))
        found = await self.client.text_document_hover_async(place)
        return found.contents.value if found else ""

    async def completions(self, line: int, column: int) -> dict[str, str]:
        place = lsp.CompletionParams(self.identifier, lsp.Position(line, column))
        return {one.label: one.documentation for one in await self.client.text_document_completion_async(place)}

    async def definition(self, line: int, column: int) -> list[lsp.Location]:
        place = lsp.DefinitionParams(self.identifier, lsp.Position(line, column))
        return list(await self.client.text_document_definition_async(place) or ())

    async def actions(self, line: int, last: int | None = None, only: list[str] | None = None) -> list[lsp.CodeAction]:
        """The changes offered in the lines (from 0)."""
        lines = lsp.Range(lsp.Position(line, 0), lsp.Position(line if last is None else last, 0))
        given = lsp.CodeActionParams(self.identifier, lines, lsp.CodeActionContext([], only))
        return list(await self.client.text_document_code_action_async(given) or ())

    async def tried(self, line: int) -> list[lsp.CodeAction]:
        """The changes offered in a line (from 0), once there is one."""
        for _ in range(int(PATIENCE / 0.1)):
            if found := await self.actions(line):
                return found
            await asyncio.sleep(0.1)
        raise AssertionError("no change is offered")

    async def rename(self, line: int, column: int, new: str) -> lsp.WorkspaceEdit:
        """Raises JsonRpcException with the reason of a refusal."""
        given = lsp.RenameParams(self.identifier, lsp.Position(line, column), new)
        return await self.client.text_document_rename_async(given)

    async def renamable(self, line: int, column: int) -> lsp.Range | None:
        given = lsp.PrepareRenameParams(self.identifier, lsp.Position(line, column))
        return await self.client.text_document_prepare_rename_async(given)

    async def format(self, first: int | None = None, last: int = 0) -> list[lsp.TextEdit]:
        """The edits that format the text, or its lines (from 0)."""
        options = lsp.FormattingOptions(tab_size=4, insert_spaces=True)
        if first is None:
            whole = lsp.DocumentFormattingParams(self.identifier, options)
            return list(await self.client.text_document_formatting_async(whole) or ())
        lines = lsp.Range(lsp.Position(first, 0), lsp.Position(last, 0))
        part = lsp.DocumentRangeFormattingParams(self.identifier, lines, options)
        return list(await self.client.text_document_range_formatting_async(part) or ())

    async def tokens(self) -> list[int]:
        given = lsp.SemanticTokensParams(self.identifier)
        return list((await self.client.text_document_semantic_tokens_full_async(given)).data)

    def edits(self, found: lsp.WorkspaceEdit) -> list[lsp.TextEdit]:
        """Those of the text, which must be the only one, and of the version that the server has seen."""
        (change,) = found.document_changes
        assert (change.text_document.uri, change.text_document.version) == (self.uri, self.version)
        return change.edits


def applied(text: str, edits: list[lsp.TextEdit]) -> str:
    """The text after edits, as an editor makes them: all places are those of the text before."""
    lines = text.split("\n")

    def offset(place: lsp.Position) -> int:
        units = lines[place.line].encode("utf-16-le")[: 2 * place.character]
        return sum(len(line) + 1 for line in lines[: place.line]) + len(units.decode("utf-16-le"))

    pieces = [(offset(one.range.start), offset(one.range.end), one.new_text) for one in edits]
    at, found = 0, []
    for start, end, new in sorted(pieces, key=lambda one: one[:2]):
        assert at <= start <= end, "edits overlap"
        found += [text[at:start], new]
        at = end
    return "".join([*found, text[at:]])


@asynccontextmanager
async def editor(
    file: Path, *options: str, settings: object = None, related: bool = True, actions: bool = False
) -> AsyncIterator[Editor]:
    """An editor with the (unopened) text ``file``, and a server started with ``options``, which ends in order. With
    ``actions``, it offers changes of the text, which the server then tries."""
    client = LanguageClient("tests", "1")
    one = Editor(client, file)

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: lsp.PublishDiagnosticsParams) -> None:
        one.published[params.uri] = list(params.diagnostics)
        one.times += 1
        if params.uri == one.uri:
            one.told.set()

    @client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
    def refreshed(*_: object) -> None:
        one.refreshed.set()

    @client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)
    def lenses(*_: object) -> None: ...

    @client.feature(lsp.WINDOW_SHOW_MESSAGE)
    def shown(params: lsp.ShowMessageParams) -> None:
        one.shown.append(params.message)

    await client.start_io(sys.executable, "-P", "-m", "sluice", "lsp", *options)
    workspace = lsp.WorkspaceClientCapabilities(
        inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(True),
        code_lens=lsp.CodeLensWorkspaceClientCapabilities(True),
        workspace_edit=lsp.WorkspaceEditClientCapabilities(document_changes=True),
    )
    messages = lsp.PublishDiagnosticsClientCapabilities(related_information=related)
    offered = lsp.CodeActionClientCapabilities() if actions else None
    texts = lsp.TextDocumentClientCapabilities(publish_diagnostics=messages, code_action=offered)
    can = lsp.ClientCapabilities(workspace, texts)
    await client.initialize_async(lsp.InitializeParams(can, initialization_options=settings))
    client.initialized(lsp.InitializedParams())
    yield one
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    assert client._server is not None and client._server.returncode == 0
