"""Runs programs on PoCL and on the emulator."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hls.frontend import parse_source
from hls.ir import Module
from hls.ir.launch import IndexSpace
from sim.emulator import Emulator

from .generate import INPUTS, OUTPUTS, PARAMETERS, WORDS, Program
from .tree import FLOATS, INTEGERS

__all__ = ["ITEMS", "Results", "emulate", "inputs", "module_of", "outputs", "run_pocl", "source_of"]

ITEMS = 3
#: Programs that one kernel calls.
TOGETHER = 10
#: Iterations of one invocation of a loop: a loop of a program has a few, but one that a faulty compiler turned round
#: would run for 2**32, which is minutes.
MOST_ITERATIONS = 1 << 16


@dataclass(frozen=True)
class Results:
    """The outputs of every program: (program, work-item, word). Those of floats that were moved are bits."""

    integers: np.ndarray
    floats: np.ndarray
    moved_floats: np.ndarray
    moved_doubles: np.ndarray

    def of(self, k: int) -> bytes:
        """All bytes that program ``k`` wrote; of NaN that were computed there is one."""
        floats = self.floats[k].copy()
        floats[np.isnan(floats)] = np.nan
        return b"".join(
            each.tobytes() for each in (self.integers[k], floats, self.moved_floats[k], self.moved_doubles[k])
        )


def every_nan(rng: np.random.Generator, bits: int, fraction: int) -> np.ndarray:
    """64 numbers of a format as bits; half of them are NaN, quiet and signaling, with payloads and signs."""
    values = np.frombuffer(rng.bytes(64 * bits // 8), f"u{bits // 8}").copy()
    top = (1 << bits - 1) - (1 << fraction)
    values[::2] |= np.array(top, values.dtype)
    values[:8] = [
        top | 1,
        top | 1 << bits - 1 | 1,
        top | 5 << fraction - 4,
        top,
        top | 1 << bits - 1,
        0,
        1,
        1 << bits - 1,
    ]
    return values.view(f"f{bits // 8}")


def inputs(seed: int) -> dict[str, np.ndarray]:
    """64 elements for every input."""
    rng, arrays = np.random.default_rng(seed), {}
    for name, (bits, signed) in INTEGERS.items():
        dtype = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
        array = arrays[f"in_{name}"] = np.frombuffer(rng.bytes(64 * bits // 8), dtype).copy()
        array[rng.integers(0, 64, 24)] = rng.integers(0, 9, 24)
    for name, bits in FLOATS.items():
        array = arrays[f"in_{name}"] = (rng.standard_normal(64) * 10.0 ** rng.integers(-3, 9, 64)).astype(
            f"f{bits // 8}"
        )
        array[rng.integers(0, 64, 5)] = [0, -0.0, np.inf, np.nan, 1e-42]
    raw = {f"raw_{name}": every_nan(rng, bits, 23 if bits == 32 else 52) for name, bits in FLOATS.items()}
    return arrays | raw


def kernel_names(count: int) -> list[str]:
    return [f"k{first}" for first in range(0, count, TOGETHER)]


def source_of(programs: Sequence[Program]) -> str:
    """All programs and the kernels that call them."""
    given = ", ".join(INPUTS)
    parts = ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable", "#pragma OPENCL FP_CONTRACT OFF", *map(str, programs)]
    for first in range(0, len(programs), TOGETHER):
        calls = "".join(
            f"  {p.name}({given}, {', '.join(f'{o} + ({k} * {ITEMS} + g) * {WORDS}' for o in OUTPUTS)}, g);\n"
            for k, p in enumerate(programs[first : first + TOGETHER], first)
        )
        parameters = PARAMETERS.removesuffix(", uint g")
        parts.append(f"__kernel void k{first}({parameters}) {{\n  uint g = get_global_id(0);\n{calls}}}")
    return "\n".join(parts) + "\n"


def outputs(*shape: int) -> dict[str, np.ndarray]:
    """Zeros, for each output so many."""
    dtypes = {"oi": np.uint64, "of": np.float32, "mf": np.uint32, "md": np.uint64}
    return {name: np.zeros(shape, dtypes[name]) for name in OUTPUTS}


def run_pocl(context, source: str, count: int, given) -> Results:
    """Raises pyopencl.Error."""
    import pyopencl as cl

    program = cl.Program(context, source).build(options=["-w"])
    queue, flags = cl.CommandQueue(context), cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    results = outputs(count, ITEMS, WORDS)
    buffers = [cl.Buffer(context, flags, hostbuf=a) for a in (*given.values(), *results.values())]
    for name in kernel_names(count):
        cl.Kernel(program, name)(queue, (ITEMS,), (1,), *buffers)
    for array, buffer in zip(results.values(), buffers[len(given) :], strict=True):
        cl.enqueue_copy(queue, array, buffer)
    return Results(*results.values())


def module_of(source: str) -> Module:
    """Raises CompileError."""
    return parse_source(source, "random.cl").module


def emulate(module: Module, count: int, given) -> Results:
    """Raises EmulationError."""
    emulator, results = Emulator(module, hasty=True), outputs(count, ITEMS, WORDS)
    for name in kernel_names(count):
        emulator.run(name, given | results, {}, IndexSpace.of((ITEMS,)), MOST_ITERATIONS)
    return Results(*results.values())
