"""Errors that nothing foresaw."""

import traceback
from pathlib import Path

from .codes import Code
from .machine import machine_trouble
from .message import Diagnostic

__all__ = ["internal_error"]


def internal_error(error: Exception) -> Diagnostic:
    """The message for an error that nothing foresaw: of the machine where it is that, or else a fault of the compiler
    itself: what, where in it, and what the user can do."""
    trouble = machine_trouble(error)
    if trouble is not None:
        return trouble
    where = traceback.extract_tb(error.__traceback__)[-1]
    what = str(error).partition("\n")[0]
    return Diagnostic(
        f"internal error: {type(error).__name__}{': ' if what else ''}{what} "
        f"({Path(where.filename).name}:{where.lineno})",
        hint="this is a fault of the compiler, not of your kernel: please report it, with the kernel and what "
        "SLUICE_DEBUG=1 prints (docs/contributing.md says how)",
        code=Code.INTERNAL,
    )
