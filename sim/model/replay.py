"""A launch on the replay: the emulator records it as it runs the planned kernel, and the engine replays the record."""

import ctypes
from collections.abc import Mapping, Sequence

import numpy as np

from hls.emulate.trace import Tracer
from hls.ir import Module
from hls.ir.accesses import memory_name
from hls.model.estimate import Planned
from hls.model.replay import MachineText, NotReplayed, check_kernel, wanted_by
from hls.model.replay.board import board_numbers
from hls.model.replay.figures import AccessFigures, LoopFigures, Replayed
from hls.model.replay.machine import Columns
from hls.target.board import Board
from sim.emulator import Emulator, Started

from .library import engine

__all__ = ["Replayer"]

#: cycles after which a launch is given up
LIMIT = 1 << 40


class Replayer:
    """The planned kernels of a program; those that the replay does not cover cannot be started. Raises BuildError or
    ToolMissing at the first launch."""

    def __init__(self, kernels: Sequence[Planned], module: Module, board: Board, hasty: bool = False) -> None:
        self.kernels = {one.function.name: one for one in kernels}
        self.board = board
        covered = [one for one in kernels if _runs(one)]
        self._tracer = Tracer([op for one in covered for op in wanted_by(one)])
        functions = {one.function.name: one.function for one in covered}
        self.emulator = Emulator(Module(functions, module.sources, module.channels), hasty=hasty, observe=self._tracer)

    def machine(self, kernel: str, addresses: Mapping[str, int]) -> MachineText:
        """The machine of a kernel whose buffers have these addresses. Raises NotReplayed."""
        check_kernel(self.kernels[kernel])
        trace = self._tracer.trace
        return MachineText.of(self.kernels[kernel], Columns(trace.tops[kernel], trace.loops, trace.columns), addresses)

    def replay(self, started: Started, addresses: Mapping[str, int], age: int = 0) -> Replayed:
        """Replay a launch that has ended on the emulator, once; ``addresses`` are those of the buffers, ``age`` the
        cycles that the board has been running when the kernel starts. Raises NotReplayed."""
        machine = self.machine(started.kernel, addresses)
        try:
            return self._run(machine, started, addresses, age)
        finally:
            self.emulator.forget(started)

    def _run(self, machine: MachineText, started: Started, addresses: Mapping[str, int], age: int) -> Replayed:
        planned, widths = self.kernels[started.kernel], self._tracer.trace.widths
        records = self.emulator.traced(started, len(widths))
        if records is None:
            raise NotReplayed("more iterations than a record holds", planned.function.span)
        static = planned.plan.static_depth
        bases = [addresses[memory_name(op)] for op in machine.units]
        split = 4 * len(machine.regions)
        figures = np.zeros(split + 3 * len(machine.units), np.uint64)
        issued = ctypes.c_uint64()
        given = [
            np.array(machine.numbers, np.int64),
            np.array(records, np.uint64),
            np.array(widths, np.uint64),
            np.array(bases, np.uint64),
            np.array(board_numbers(self.board), np.float64),
        ]
        cycles = engine().sluice_replay(
            *map(_pointer, given),
            ctypes.c_uint64(len(records)),
            ctypes.c_uint64(age + static - 1),
            ctypes.c_uint64(LIMIT),
            _pointer(figures),
            ctypes.byref(issued),
        )
        if not cycles:
            raise AssertionError(f"the replay of {started.kernel} came to a stop")
        rows = figures[:split].reshape(-1, 4).tolist()
        accesses = [AccessFigures(op, *row) for op, row in zip(machine.units, figures[split:].reshape(-1, 3).tolist())]
        loops = [LoopFigures(plan, *row) for plan, row in zip(machine.regions, rows, strict=True) if plan.loop]
        return Replayed(cycles + static, issued.value, tuple(loops), tuple(accesses))


def _runs(planned: Planned) -> bool:
    """Whether the emulator runs the kernel in its planned form."""
    try:
        check_kernel(planned)
    except NotReplayed:
        return False
    return True


def _pointer(numbers: np.ndarray) -> ctypes.c_void_p:
    return numbers.ctypes.data_as(ctypes.c_void_p)
