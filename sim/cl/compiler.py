"""The only module through which programs call the compiler."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from hls.diag import Diagnostic
from hls.ir import Module
from hls.options import Options
from hls.rtl.interface import SystemInterface
from hls.signals import deferred
from hls.target.board import Board
from sim.errors import BuildError
from sim.locks import ProcessLock

from .refusals import fault_text

__all__ = [
    "ONE_AT_A_TIME",
    "Compiled",
    "compile_for_hardware",
    "compile_source",
    "digest_of",
    "is_endless",
    "verilog_of",
]

#: The compiler is not thread-safe, and two would share one processor anyway: Python runs one thread at a time.
ONE_AT_A_TIME = ProcessLock()


class Compiled(Protocol):
    """The interface of a compilation's result that a program uses."""

    @property
    def verilog(self) -> Mapping[str, str]:
        """The text of each module's file, by name."""

    @property
    def interface(self) -> SystemInterface:
        """Kernels, ports and registers of the system."""

    @property
    def kernels(self) -> Sequence[object]:
        """The kernels with their plans, for a report of what was built."""

    @property
    def module(self) -> Module:
        """The program as the frontend made it."""

    @property
    def warnings(self) -> Sequence[Diagnostic]:
        """What the compiler warned of."""

    def decode(self, kernel: str, values: Mapping[str, int]) -> dict[str, Any]:
        """Statistics of one run from its counters."""


def is_endless(module: Module, kernel: str) -> bool:
    """Whether the kernel is written never to end, as one that serves others."""
    with deferred():
        from hls.passes.link.autorun import never_ends

    return never_ends(module.functions[kernel])


def compile_source(source: str, board: Board, options: Options, file: str) -> Compiled:
    """Compile OpenCL C for a run, with a probe, by which the simulator counts, and hardware for printf unless
    $SLUICE_PRINTF is 0. Raises hls.diag.CompileError."""
    # Importing the compiler takes a second: a host program that fails before does not need it. A library whose import
    # is interrupted reports that it is broken.
    with deferred():
        from hls.driver import compile

    return compile(source, board, replace(options, probe=True, printf=os.environ.get("SLUICE_PRINTF") != "0"), file)


def compile_for_hardware(source: str, board: Board, options: Options, file: str) -> Compiled:
    """Compile OpenCL C as ``sluice build`` does, so that the design is the one in a bitstream. Raises
    hls.diag.CompileError."""
    with deferred():
        from hls.driver import compile

    return compile(source, board, options, file)


def verilog_of(compiled: Compiled) -> Mapping[str, str]:
    """The Verilog of a program that is to run. Raises BuildError where it cannot be made."""
    try:
        with ONE_AT_A_TIME:
            return compiled.verilog
    except Exception as error:
        raise BuildError(fault_text(error)) from error


def digest_of(compiled: Compiled) -> str:
    """The digest of a design that :func:`compile_for_hardware` made, as its interface.json has it."""
    from hls.driver import Result
    from hls.export.description import digest
    from hls.output_files import written_verilog

    assert isinstance(compiled, Result)
    return digest(written_verilog(compiled))
