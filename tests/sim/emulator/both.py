"""Runs kernels in the emulator and in the interpreter, and compares every byte and every fault."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hls.diag import Span
from hls.ir import Module, walk
from hls.ir.clone import clone_function
from hls.ir.interpreter import ExecutionError, run_kernel
from hls.ir.launch import IndexSpace
from sim.emulator import EmulationError, Emulator

__all__ = ["Run", "emulated", "interpreted", "merged"]


ONE_ITEM = IndexSpace.of((1,))


@dataclass(frozen=True)
class Run:
    """A kernel and what it is started with."""

    kernel: str
    buffers: Mapping[str, np.ndarray]
    scalars: Mapping[str, int | float] = field(default_factory=dict)
    space: IndexSpace = ONE_ITEM
    shared: Mapping[str, int] = field(default_factory=dict)  #: bytes of each local memory argument

    def copies(self) -> dict[str, np.ndarray]:
        return {name: array.copy() for name, array in self.buffers.items()}


#: The bytes of every buffer, or the place where the run went wrong.
Outcome = dict[str, bytes] | Span | None


def emulated(emulator: Emulator, run: Run) -> Outcome:
    buffers = run.copies()
    try:
        emulator.run(run.kernel, buffers | dict(run.shared), run.scalars, run.space)
    except EmulationError as error:
        return error.diagnostic.span
    return {name: array.tobytes() for name, array in buffers.items()}


def interpreted(module: Module, run: Run, max_iterations: int = 400_000) -> Outcome:
    """Raises ExecutionError when the run takes too many iterations."""
    buffers = run.copies()
    space = run.space
    try:
        given = {name: array.view(np.uint8) for name, array in buffers.items()} | dict(run.shared)
        run_kernel(
            module,
            run.kernel,
            given,
            run.scalars,
            space.global_size[: space.work_dim],
            space.local_size[: space.work_dim],
            space.offset,
            max_iterations,
        )
    except ExecutionError as error:
        if "too many" in str(error):
            raise
        return error.span
    return {name: array.tobytes() for name, array in buffers.items()}


def merged(modules: Mapping[str, Module]) -> Module:
    """All functions of all modules in one, each named ``PREFIX_NAME``: one text, compiled once."""
    functions = {}
    for prefix, module in modules.items():
        for function in module.functions.values():
            copy = clone_function(function)
            copy.name = f"{prefix}_{function.name}"
            for op in walk(copy.body):
                if op.opcode == "call":
                    op.attrs["callee"] = f"{prefix}_{op.attrs['callee']}"
            functions[copy.name] = copy
    return Module(functions)
