"""Programs on the emulator: no Verilog is made, kernels run as native code on the board's memory."""

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hls.diag import Diagnostic, render
from hls.ir import Function, Module
from hls.ir.launch import IndexSpace
from hls.options import Options
from hls.profile.layout import Layout
from hls.rtl.interface import ArgumentInterface, KernelInterface
from hls.target.board import Board
from sim.emulator import EmulationError, Emulator, Outcome

from .arguments import Value
from .constants import status_code
from .errors import RuntimeError
from .event import Event, Statistics
from .platform import Context

__all__ = ["Emulated", "emulate_source", "run_emulated"]


@dataclass(frozen=True)
class Interface:
    """The kernels as the host sees them."""

    kernels: tuple[KernelInterface, ...]


@dataclass(eq=False)
class Emulated:
    """A program for the emulator, compiled to native code at its first launch. ``module`` is what the front end made."""

    module: Module
    interface: Interface
    warnings: Sequence[Diagnostic]
    told: set[Diagnostic] = field(default_factory=set)  #: remarks on runs, each made once

    @cached_property
    def emulator(self) -> Emulator:
        return Emulator(self.module)


def emulate_source(source: str, board: Board, options: Options, file: str) -> Emulated:
    """Parse and check OpenCL C, and no more: what no hardware can be made of yet runs here. Raises CompileError."""
    from hls.frontend import parse_source  # a host program that fails before needs none of it

    parsed = parse_source(source, file, options.defines, [str(d) for d in options.include_dirs])
    kernels = tuple(_interface(f, k, board) for k, f in enumerate(parsed.module.kernels))
    return Emulated(parsed.module, Interface(kernels), parsed.warnings)


def _interface(function: Function, index: int, board: Board) -> KernelInterface:
    arguments = tuple(ArgumentInterface(p.name, p.kind, p.c_type, p.bytes, 0, "inout" if p.kind == "buffer" else "in")
                      for p in function.params)
    layout = Layout(function.name, board.clock.kernel_mhz, (), (), (), counted=False)
    return KernelInterface(function.name, index, 0, arguments, bool(function.attrs.get("ndrange")), {}, (), layout,
                           function.attrs.get("work_group_size"))


def run_emulated(program: Emulated, context: Context, kernel: KernelInterface, values: Sequence[Value],
                 space: IndexSpace) -> Event:
    """Run the kernel to its end. Raises cl.RuntimeError with the place in the source when it goes wrong."""
    buffers, scalars = {}, {}
    for argument, value in zip(kernel.arguments, values, strict=True):
        if argument.kind == "buffer":
            buffers[argument.name] = np.zeros(0, np.uint8) if value.value is None else value.value.bytes
        else:
            scalars[argument.name] = value.value.item()
    try:
        outcome = program.emulator.run(kernel.name, buffers, scalars, space)
    except EmulationError as error:
        text = "\n" + render(error.diagnostic, program.module.sources)
        raise RuntimeError("clEnqueueNDRangeKernel", status_code.OUT_OF_RESOURCES, text) from error
    _remark(program, outcome)
    start = context.simulated.now_ns
    context.simulated.now_ns += outcome.seconds * 1e9
    statistics = _statistics(kernel, space, outcome)
    if os.environ.get("SLUICE_STATS") == "1":
        count = statistics["work_items"]
        print(f"{kernel.name}: emulated, {count:,} work-item{'s' * (count != 1)} in {outcome.seconds:.3g} s", flush=True)
    return Event(start, context.simulated.now_ns, Statistics(statistics, outcome.seconds))


def _remark(program: Emulated, outcome: Outcome) -> None:
    """Say on stderr what was read before it was written, once for each place of the program."""
    for read in outcome.unset_reads:
        place = Diagnostic(read.kernel, read.span)
        if place not in program.told:
            program.told.add(place)
            print(render(read.diagnostic, program.module.sources), file=sys.stderr, flush=True)


def _statistics(kernel: KernelInterface, space: IndexSpace, outcome: Outcome) -> dict:
    """What a run on the board gives, where there is an answer without cycles; and what only the emulator knows."""
    unset = [{"line": read.span.line if read.span else None, "count": read.count} for read in outcome.unset_reads]
    return {"kernel": kernel.name, "device": "emulator", "cycles": None, "clock_mhz": None, "loops": [], "memory": [],
            "channels": [], "accounts": [], "work_items": math.prod(space.global_size), "seconds": outcome.seconds,
            "unset_reads": unset}
