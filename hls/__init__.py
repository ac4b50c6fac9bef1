"""sluice: OpenCL C kernels to pipelined hardware. This module is the whole public interface of the compiler."""

from typing import TYPE_CHECKING, Any

from .diag import CompileError, Diagnostic, Span, render
from .options import Options
from .target.board import BoardError, load_board

if TYPE_CHECKING:
    from .driver import Result, compile

__all__ = ["BoardError", "CompileError", "Diagnostic", "Options", "Result", "Span", "compile", "load_board", "render"]


def __getattr__(name: str) -> Any:
    """Import the compiler on first use: that takes most of a second, which users of boards or messages alone need not
    wait for."""
    if name in ("Result", "compile"):
        from . import driver

        return getattr(driver, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
