"""Runs programs on PoCL and on the emulator."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hls.frontend import parse_source
from hls.ir import Module
from hls.ir.launch import IndexSpace
from sim.emulator import Emulator

from .generate import INPUTS, PARAMETERS, WORDS, Program
from .tree import FLOATS, INTEGERS

__all__ = ["ITEMS", "Results", "emulate", "inputs", "module_of", "run_pocl", "source_of"]

ITEMS = 3
#: Programs that one kernel calls.
TOGETHER = 10


@dataclass(frozen=True)
class Results:
    """The outputs of every program: (program, work-item, word)."""

    integers: np.ndarray
    floats: np.ndarray

    def of(self, k: int) -> bytes:
        """All bytes that program ``k`` wrote; of NaN there is one."""
        floats = self.floats[k].copy()
        floats[np.isnan(floats)] = np.nan
        return self.integers[k].tobytes() + floats.tobytes()


def inputs(seed: int) -> dict[str, np.ndarray]:
    """64 elements of every type."""
    rng, arrays = np.random.default_rng(seed), {}
    for name, (bits, signed) in INTEGERS.items():
        dtype = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
        arrays[name] = np.frombuffer(rng.bytes(64 * bits // 8), dtype).copy()
        arrays[name][rng.integers(0, 64, 24)] = rng.integers(0, 9, 24)
    for name, bits in FLOATS.items():
        arrays[name] = (rng.standard_normal(64) * 10.0 ** rng.integers(-3, 9, 64)).astype(f"f{bits // 8}")
        arrays[name][rng.integers(0, 64, 5)] = [0, -0.0, np.inf, np.nan, 1e-42]
    return arrays


def kernel_names(count: int) -> list[str]:
    return [f"k{first}" for first in range(0, count, TOGETHER)]


def source_of(programs: Sequence[Program]) -> str:
    """All programs and the kernels that call them."""
    given = ", ".join(f"in_{t}" for t in INPUTS)
    parts = ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable", "#pragma OPENCL FP_CONTRACT OFF", *map(str, programs)]
    for first in range(0, len(programs), TOGETHER):
        calls = "".join(
            f"  {p.name}({given}, oi + ({k} * {ITEMS} + g) * {WORDS}, of + ({k} * {ITEMS} + g) * {WORDS}, g);\n"
            for k, p in enumerate(programs[first : first + TOGETHER], first)
        )
        parameters = PARAMETERS.removesuffix(", uint g")
        parts.append(f"__kernel void k{first}({parameters}) {{\n  uint g = get_global_id(0);\n{calls}}}")
    return "\n".join(parts) + "\n"


def _outputs(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((count, ITEMS, WORDS), np.uint64), np.zeros((count, ITEMS, WORDS), np.float32)


def run_pocl(context, source: str, count: int, given) -> Results:
    """Raises pyopencl.Error."""
    import pyopencl as cl

    program = cl.Program(context, source).build(options=["-w"])
    queue, flags = cl.CommandQueue(context), cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    outputs = _outputs(count)
    buffers = [cl.Buffer(context, flags, hostbuf=a) for a in (*given.values(), *outputs)]
    for name in kernel_names(count):
        cl.Kernel(program, name)(queue, (ITEMS,), (1,), *buffers)
    for array, buffer in zip(outputs, buffers[-2:]):
        cl.enqueue_copy(queue, array, buffer)
    return Results(*outputs)


def module_of(source: str) -> Module:
    """Raises CompileError."""
    return parse_source(source, "random.cl").module


def emulate(module: Module, count: int, given) -> Results:
    """Raises EmulationError."""
    emulator, outputs = Emulator(module, hasty=True), _outputs(count)
    buffers = {f"in_{name}": array for name, array in given.items()} | dict(zip(("oi", "of"), outputs))
    for name in kernel_names(count):
        emulator.run(name, buffers, {}, IndexSpace.of((ITEMS,)))
    return Results(*outputs)
