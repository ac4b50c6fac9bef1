"""What the requests of the editor see of the server, which imports their modules."""

from typing import Any

from pygls.lsp.server import LanguageServer

__all__ = ["ServerView"]


class ServerView(LanguageServer):
    """The server of :mod:`hls.editor.server`; its other members are looked up when they are used."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the server has no {name!r}")
