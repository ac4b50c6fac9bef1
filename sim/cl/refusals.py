"""What the compiler refuses, as text for the host program, and as data for a command that runs it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from hls.diag import CompileError, internal_error, render
from hls.signals import exit_code

from .errors import Error

__all__ = ["fault_text", "refusal_text", "tell_end"]

#: of this process
_texts: list[str] = []


def refusal_text(error: CompileError, sources: Mapping[str, str]) -> str:
    """The diagnostics of a refused program or launch, each with its line from ``sources``. Their numbers and messages
    are also appended to the file $SLUICE_REFUSALS_FILE, one object of JSON on a line, if it is set: the text is for
    people, and reaches a caller only as far as the host program lets it. Raises OSError if the file cannot be
    written."""
    for one in error.diagnostics:
        _append({"code": one.code.number if one.code else None, "message": one.message})
    text = "\n".join(render(one, dict(sources)) for one in error.diagnostics)
    _texts.append(text)
    return text


def tell_end(error: BaseException) -> None:
    """Append to that file that the host program has failed with an ``error``, and whether it comes from a refusal: one
    that the program has caught, and gone on after, is not why it failed. Raises OSError if the file cannot be
    written."""
    chain: list[BaseException] = []
    more: list[BaseException | None] = [error]
    while more:
        one = more.pop()
        if one is not None and not any(one is other for other in chain):
            chain.append(one)
            more += [one.__cause__, one.__context__]
    ended = any(isinstance(one, Error) and text in str(one) for one in chain for text in _texts)
    _append({"ended": ended})


def _append(record: Mapping[str, object]) -> None:
    if path := os.environ.get("SLUICE_REFUSALS_FILE"):
        with Path(path).open("a", encoding="utf-8") as out:
            out.write(json.dumps(record) + "\n")


def fault_text(error: Exception) -> str:
    """The message for an error of the compiler that nothing foresaw, such as a lack of memory. Raises the error itself
    with SLUICE_DEBUG=1, and SystemExit where a signal that ends the process caused it."""
    if os.environ.get("SLUICE_DEBUG") == "1":
        raise error
    if exit_code() is not None:
        raise SystemExit(exit_code()) from None
    return render(internal_error(error), {})
