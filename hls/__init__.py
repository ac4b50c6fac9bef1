"""sluice: OpenCL C kernels to pipelined hardware. This module is the whole public interface of the compiler."""

from .diag import CompileError, Diagnostic, Span, render
from .driver import Result, compile
from .options import Options
from .target.board import BoardError, load_board

__all__ = ["BoardError", "CompileError", "Diagnostic", "Options", "Result", "Span", "compile", "load_board", "render"]
