"""What a report reads of the result of a compilation."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..analysis.channels.deadlock import Verdict
from ..diag import Diagnostic
from ..ir import Module, Op, Value
from ..options import Options
from ..planning.compilation import CompiledKernel
from ..planning.memory import ChannelPlan
from ..target.board import Board

if TYPE_CHECKING:
    from ..rtl.interface import SystemInterface

__all__ = ["Compiled"]


class Compiled(Protocol):
    """The result of a compilation: :class:`hls.driver.Result`, which describes these."""

    @property
    def top(self) -> str:
        """The top module."""

    @property
    def interface(self) -> "SystemInterface":
        """Kernels, ports and registers."""

    @property
    def board(self) -> Board:
        """What it was compiled for."""

    @property
    def options(self) -> Options:
        """What it was compiled with."""

    @property
    def module(self) -> Module:
        """The linked IR before optimization."""

    @property
    def kernels(self) -> Sequence[CompiledKernel]:
        """The kernels and parts of kernels, with the products of each stage."""

    @property
    def warnings(self) -> Sequence[Diagnostic]:
        """What the user was warned of."""

    @property
    def channels(self) -> Sequence[ChannelPlan]:
        """The channels between kernels."""

    @property
    def networks(self) -> Sequence[Verdict]:
        """Deadlock verdicts for kernels connected by channels."""

    @property
    def named(self) -> Mapping[str, Mapping[str, Value | Op]]:
        """For each kernel what the names in its Verilog stand for."""

    @property
    def generated(self) -> dict[str, str]:
        """The Verilog without the files of RTL libraries, by file name."""

    @property
    def foreign(self) -> dict[str, tuple[int, int, int, int]]:
        """The area of the modules of RTL libraries, by their names."""
