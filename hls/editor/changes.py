"""The requests of an editor for changes of a text: code actions, rename, formatting; and for the kinds of its words."""

from collections.abc import Iterable

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams

from .analysis import Request, names_elsewhere
from .edits import Edit
from .formatting import FormattingError, formatted
from .rename import Refused, name_at, rename
from .server import Server
from .tokens import KINDS, MODIFIERS, tokens

__all__ = ["register"]


def register(server: Server) -> None:
    """Let the server answer these requests."""
    _code_actions(server)
    _renames(server)
    _formats(server)

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, lsp.SemanticTokensLegend([*KINDS], [*MODIFIERS]))
    def semantic_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        uri = params.text_document.uri
        document = server.document(uri)
        return server.converter(uri).tokens(tokens(document.source, document.path, names_elsewhere(document.path)))


def _edited(server: Server, uri: str, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
    """The edits of a text, for its present version where the editor knows versions."""
    document = server.document(uri)
    found = server.converter(uri).edits(document.source, edits)
    can = getattr(server.client_capabilities.workspace, "workspace_edit", None)
    if not getattr(can, "document_changes", False):
        return lsp.WorkspaceEdit(changes={uri: found})
    versioned = lsp.OptionalVersionedTextDocumentIdentifier(uri=uri, version=document.version)
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(versioned, found)])


def _code_actions(server: Server) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.RefactorRewrite])
    )
    def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        only = params.context.only
        kind = lsp.CodeActionKind.RefactorRewrite
        if only is not None and not any(kind == one or kind.startswith(f"{one}.") for one in only):
            return []
        uri = params.text_document.uri
        first, last = params.range.start.line + 1, params.range.end.line + 1
        return [
            lsp.CodeAction(fix.title, kind=kind, edit=_edited(server, uri, fix.edits))
            for fix in server.session.fixes(uri)
            if fix.first <= last and first <= fix.last
        ]


def _renames(server: Server) -> None:
    def place(params: lsp.RenameParams | lsp.PrepareRenameParams) -> tuple[Request, int, int]:
        """What would be compiled, and the place in characters."""
        request = server.request(params.text_document.uri)
        document = server.document(params.text_document.uri)
        at = document.position_codec.position_from_client_units(document.lines, params.position)
        return request, at.line, at.character

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepared(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        span = name_at(*place(params))
        return server.converter(params.text_document.uri).range(span) if span is not None else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        uri, text = params.text_document.uri, server.document(params.text_document.uri).source
        try:
            edits = await server.session.read(rename, *place(params), params.new_name)
        except Refused as error:
            raise JsonRpcInvalidParams(str(error)) from None
        if server.document(uri).source != text:
            raise JsonRpcInvalidParams("the text has changed meanwhile: rename again")
        return _edited(server, uri, edits)


def _formats(server: Server) -> None:
    async def edits(uri: str, lines: tuple[int, int] | None) -> list[lsp.TextEdit]:
        document = server.document(uri)
        text = document.source
        try:
            found = await server.session.read(formatted, text, document.path, lines)
        except FormattingError as error:
            raise JsonRpcInternalError(str(error)) from None
        return server.converter(uri).edits(text, found) if server.document(uri).source == text else []

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def whole(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return await edits(params.text_document.uri, None)

    @server.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    async def part(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit]:
        return await edits(params.text_document.uri, (params.range.start.line + 1, params.range.end.line + 1))
