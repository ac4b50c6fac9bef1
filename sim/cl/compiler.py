"""The one place where programs reach the compiler."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from hls.diag import Diagnostic
from hls.ir import Module
from hls.options import Options
from hls.rtl.interface import SystemInterface
from hls.signals import deferred
from hls.target.board import Board
from sim.locks import ProcessLock

__all__ = ["ONE_AT_A_TIME", "Compiled", "compile_source"]

#: The compiler is made for one thread, and two would share one processor all the same: Python runs one at a time.
ONE_AT_A_TIME = ProcessLock()


class Compiled(Protocol):
    """What a program needs of a compilation's result."""

    verilog: Mapping[str, str]
    interface: SystemInterface
    module: Module
    warnings: Sequence[Diagnostic]

    def decode(self, kernel: str, values: Mapping[str, int]) -> dict:
        """Statistics of one run from its counters."""


def compile_source(source: str, board: Board, options: Options, file: str) -> Compiled:
    """Compile OpenCL C. Raises hls.diag.CompileError."""
    # The compiler takes a second to import: a host program that fails before needs none of it. A library that is
    # interrupted while it is imported says that it is broken.
    with deferred():
        from hls.driver import compile

    return compile(source, board, options, file)
