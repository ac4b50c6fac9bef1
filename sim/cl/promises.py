"""Checks each launch on the board, on a copy of its buffers, against the assertions that its kernel was compiled under.

The hardware relies on ``#pragma ivdep``, on indices that stay in their local and private arrays, and on barriers that
all work-items of a group reach; where that does not hold, it only shows wrong bytes, or never ends. The
emulator runs iterations in order and sees every access, so each launch of a kernel with such assertions is emulated
before it begins; that takes a small part of the time of the simulation. Kernels that use channels, or volatile buffers,
are left out: the values that others send them are not known beforehand. Barrier convergence depends on neither
(``hls.analysis.workgroup.barrier_convergence``), so it is always checked.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hls.diag import render
from hls.ir import Attr, Module, reachable, walk
from hls.ir.launch import IndexSpace
from hls.rtl.interface import KernelInterface
from sim.emulator import EmulationError, Emulator
from sim.shared import SharedMemory

from .arguments import Value
from .memory import Buffer, LocalMemory

__all__ = ["PromiseCheck"]

_CHANNELS = {"channel_read", "channel_write"}
#: iterations of one loop; a loop that never ends is found by the board's watchdog
MOST_ITERATIONS = 1 << 24


class PromiseCheck:
    """Finds launches that violate an assertion of their kernel. ``module`` is the program before optimization.
    Without ``arrays`` kernels without `#pragma ivdep` are not checked."""

    def __init__(self, module: Module, arrays: bool = True) -> None:
        self._module, self._arrays = module, arrays

    def violation(
        self, kernel: KernelInterface, values: Sequence[Value], space: IndexSpace, memory: SharedMemory
    ) -> str | None:
        """The message of the first violation in a launch on these arguments; the memory stays as it is. Raises
        BuildError or ToolMissing."""
        if kernel.name not in self._kernels and not kernel.promised:
            return None
        scalars = {a.name: v.number for a, v in zip(kernel.arguments, values, strict=True) if a.kind == "scalar"}
        try:
            self._emulator.run(
                kernel.name, _copies(kernel, values, memory), scalars, space, max_iterations=_limit(kernel)
            )
        except EmulationError as error:
            # The board reports any other fault itself: it encounters the same one.
            told = error.silent or kernel.promised and error.endless
            return render(error.diagnostic, self._module.sources) if told else None
        return None

    @cached_property
    def _kernels(self) -> set[str]:
        """The kernels with such assertions."""
        found = set()
        for kernel in self._module.kernels:
            functions = reachable(self._module, kernel)
            ops = [op for function in functions for op in walk(function.body)]
            memories = [memory for function in functions for memory in function.memories.values()]
            promises = any(op.attrs.get(Attr.IVDEP) for op in ops) or (
                self._arrays and any(m.onchip and m.length != 1 for m in memories)
            )
            if (
                promises
                and not any(op.opcode in _CHANNELS for op in ops)
                and not any(m.volatile and not m.onchip for m in memories)
            ):
                found.add(kernel.name)
        return found

    @cached_property
    def _emulator(self) -> Emulator:
        return Emulator(self._module, write=lambda text: None)  # the board prints it


def _limit(kernel: KernelInterface) -> int | None:
    """The most iterations of one loop. A kernel with barriers that rely on convergence is not run beyond them, so the
    user may allow more (None: the value in the environment)."""
    return None if kernel.promised and "SLUICE_MAX_ITERATIONS" in os.environ else MOST_ITERATIONS


def _copies(kernel: KernelInterface, values: Sequence[Value], memory: SharedMemory) -> dict[str, np.ndarray | int]:
    """The emulator's arguments: copies of the buffers, which share bytes where the buffers do."""
    given: dict[str, np.ndarray | int] = {}
    buffers = []
    for argument, value in zip(kernel.arguments, values, strict=True):
        if isinstance(value.value, LocalMemory):
            given[argument.name] = value.value.size
        elif isinstance(value.value, Buffer):
            buffers.append((value.value.place, argument.name))
        elif argument.kind == "buffer":
            given[argument.name] = np.zeros(0, np.uint8)
    for group in _overlapping(buffers):
        low, high = group[0][0].address, max(where.end for where, _ in group)
        copy = memory.contents[low:high].copy()
        given |= {name: copy[where.address - low : where.end - low] for where, name in group}
    return given


def _overlapping(buffers: list[Any]) -> list[list[Any]]:
    """The (allocation, name) pairs in groups that share bytes, each in the order of addresses."""
    groups: list[list[Any]] = []
    for where, name in sorted(buffers):
        if groups and where.address < max(before.end for before, _ in groups[-1]):
            groups[-1].append((where, name))
        else:
            groups.append([(where, name)])
    return groups
