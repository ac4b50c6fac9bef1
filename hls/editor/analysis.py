"""A program's text to what an editor shows of it: its messages at once, its plan somewhat later."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..diag import Code, CompileError, Diagnostic, Span, internal_error
from ..driver import parsed, plan_text
from ..frontend import Result
from ..options import Options
from ..report.channels import collect_channels
from ..report.checked import check_plan
from ..target.board import BoardError, load_board
from .marks import Hint, Lens, hints, lenses

__all__ = ["Answer", "Request", "front_end", "names_elsewhere", "plan", "program_of"]


@dataclass(frozen=True)
class Request:
    """A text to look at, and how it would be compiled. ``file`` is its path."""

    text: str
    file: str
    board: str
    options: Options

    @property
    def folder_first(self) -> Options:
        """The options, with the file's own folder searched first for includes."""
        return replace(self.options, include_dirs=(Path(self.file).parent, *self.options.include_dirs))

    @property
    def header(self) -> bool:
        """Whether it is a file for ``#include``, which may have no kernel."""
        return self.file.endswith(".h")


@dataclass(frozen=True)
class Answer:
    """The messages about a text; with ``planned``, also what its plan says of its lines."""

    messages: tuple[Diagnostic, ...] = ()
    planned: bool = False
    hints: tuple[Hint, ...] = ()
    lenses: tuple[Lens, ...] = ()


def front_end(request: Request) -> Answer:
    """The messages of preprocessor, parser and checker. Raises nothing: errors are messages."""
    return _guarded(_front_end, request)


def plan(request: Request) -> Answer:
    """All messages, and the marks of the plan; an error leaves only messages. Raises nothing."""
    return _guarded(_plan, request)


def _guarded(look: Callable[[Request], Answer], request: Request) -> Answer:
    """The answer of ``look``, or the errors that it ends with, and what was warned of before."""
    try:
        return look(request)
    except CompileError as error:
        return Answer(_about(request, (*error.diagnostics, *error.warnings)))
    except BoardError as error:
        hint = "docs/boards.md lists the keys of a board file"
        return Answer((_placed(Diagnostic(str(error), hint=hint, code=Code.BOARD_FILE), request),))
    except Exception as error:  # noqa: BLE001 (a fault of the compiler is a message, and must not end the session)
        return Answer((_placed(internal_error(error), request),))


def _front_end(request: Request) -> Answer:
    _read.clear()  # files that it includes may have changed
    return Answer(_about(request, program_of(request).warnings))


#: what was read last: a text of a thousand lines takes seconds, and an editor asks for many names in it
_read: dict[str, tuple[Request, Result | CompileError]] = {}


def program_of(request: Request) -> Result:
    """What the front end says of the text, read once for all questions until it changes. In the thread of the front
    end. Raises CompileError."""
    known = _read.get("last")
    if known is None or known[0] != request:
        _read["last"] = known = (request, _parsed(request))
    if isinstance(known[1], CompileError):
        raise known[1]
    return known[1]


#: by the file of a text, the kinds of what its headers declare, as it was last read without errors
_elsewhere: dict[str, Mapping[str, str]] = {}
#: kinds of symbols, by the first word of their meaning
_KINDS = {
    "function": "function",
    "kernel": "kernel",
    "type": "type",
    "channel": "channel",
    "channels": "channel",
    "pipe": "channel",
}


def names_elsewhere(file: str) -> Mapping[str, str]:
    """The kinds (of :class:`hls.editor.scan.Symbol`) of the names of headers that a text uses, and of their macros; as
    it was when it was last read without errors, so that they stay while a line is half written."""
    return _elsewhere.get(file, {})


def _parsed(request: Request) -> Result | CompileError:
    try:
        found = parsed(request.text, request.folder_first, request.file)
    except CompileError as error:
        return error
    kinds = {name: "macro" for name, place in found.macros.items() if place.file != request.file}
    for one in found.occurrences:
        kind = _KINDS.get(re.split(r"\W", one.meaning)[0])
        if kind and one.declared.file != request.file:
            kinds[one.text] = kind
    _elsewhere[request.file] = kinds
    return found


def _plan(request: Request) -> Answer:
    planned = plan_text(request.text, load_board(request.board), request.folder_first, request.file)
    checked = check_plan(planned, request.file)
    return Answer(
        messages=_about(request, checked.messages),
        planned=True,
        hints=hints(checked.kernels, collect_channels(planned.channels, {}), request.file),
        lenses=lenses(checked.kernels, request.file),
    )


def _about(request: Request, messages: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The messages as an editor shows them: each has a place, and a header is not blamed for having no kernel."""
    kept = (one for one in messages if not (request.header and one.code is Code.NO_KERNEL))
    return tuple(dict.fromkeys(_placed(one, request) for one in kept))


def _placed(message: Diagnostic, request: Request) -> Diagnostic:
    return message if message.span else replace(message, span=Span(request.file, 1))
