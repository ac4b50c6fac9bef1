"""The report of a plan, without hardware: what `sluice check` and editors show while a program is written."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from ..diag import Diagnostic
from ..ir import Module
from ..options import Options
from ..planning import Compilation, CompiledKernel
from ..planning.what_if import WhatIf
from ..target.board import Board
from .collect import collect_kernel
from .copies import group_copies
from .model import Kernel, KernelCopies
from .performance_warnings import performance_warnings
from .phrasing import reader_of
from .ranking import pace
from .sentences import worded

__all__ = ["Checked", "check_plan"]


class PlannedProgram(Protocol):
    """What is read of a plan (:class:`hls.driver.Plan`)."""

    @property
    def board(self) -> Board: ...
    @property
    def options(self) -> Options: ...
    @property
    def module(self) -> Module: ...
    @property
    def kernels(self) -> tuple[CompiledKernel, ...]: ...
    @property
    def warnings(self) -> tuple[Diagnostic, ...]: ...


@dataclass(frozen=True)
class Checked:
    """The kernels of a planned program as in a report, without areas: ``resources`` are 0. ``verdicts`` has a line for
    each kernel; ``messages`` are all warnings."""

    source: str
    board: str
    clock_mhz: float
    kernels: tuple[Kernel, ...]
    verdicts: tuple[str, ...]
    messages: tuple[Diagnostic, ...]


def check_plan(plan: PlannedProgram, source: str, advice: bool = False) -> Checked:
    """The report of the plan of the file ``source``. ``advice`` also tries changes of the
    program, as a compilation does, which takes several times as long."""
    with reader_of(source):
        kernels = tuple(_kernels(plan, advice))
    warned = (one for kernel in kernels for one in kernel.messages)
    return Checked(
        source=source,
        board=plan.board.name,
        clock_mhz=plan.board.clock.kernel_mhz,
        kernels=kernels,
        verdicts=tuple(map(pace, kernels)),
        messages=(*plan.warnings, *dict.fromkeys(warned)),
    )


def _kernels(plan: PlannedProgram, advice: bool) -> Iterator[Kernel]:
    compilation = Compilation(plan.board, plan.options)
    what_if = WhatIf(plan.module, compilation) if advice else None
    cells = plan.board.device.cell.plural
    for group in group_copies(plan.kernels):
        first = group.kernels[0]
        timing = compilation.of(first.function).timing.planned(first.memory)
        kernel = collect_kernel(first, plan.module, plan.board.read_latency, timing=timing, what_if=what_if)
        copies = KernelCopies(len(group.names), group.names, group.differs) if len(group.names) > 1 else None
        kernel = replace(kernel, copies=copies, verdict=pace(kernel), loops=worded(kernel.loops))
        yield replace(kernel, messages=(*kernel.messages, *performance_warnings(kernel, cells)))
