"""Measures the simple operations that the emulator executes in a second of one processor:

    python -m tests.sim.emulator.speed

The operations of the IR as written are counted, without reading and setting variables, whatever the C++ compiler makes
of them.
"""

import time

import numpy as np

from hls.frontend import parse_source
from hls.ir import Function, Module, Op, memory_name, walk
from hls.ir.launch import IndexSpace
from sim.emulator import Emulator

__all__ = ["KERNELS", "operations", "rate"]

#: name -> source; each has one loop of ``n`` iterations, innermost
KERNELS = {
    "arithmetic": """__kernel void k(__global uint *o, int n) {
        uint x = 1, y = 2;
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; y = y * 3 + (x & 255) - i; }
        o[0] = x + y; }""",
    "memory": """__kernel void k(__global uint *o, int n) {
        uint t[64];
        for (int j = 0; j < 64; j++) t[j] = j;
        for (int i = 0; i < n; i++) { uint at = (i * 7) & 63; t[at] += o[i & 1023]; o[(i + 5) & 1023] = t[(at + 1) & 63]; } }""",
    "floats": """__kernel void k(__global uint *o, int n) {
        float x = 0.5f, y = 0.25f;
        for (int i = 0; i < n; i++) { float z = x * x - y * y + 0.3f; y = 2.0f * x * y - 0.1f; x = z > 2.0f ? 0.5f : z; }
        o[0] = (uint)(x * 100.0f) + (uint)(y * 100.0f); }""",
}
#: what moves no data and computes nothing
_FREE = frozenset({"const", "addr", "yield", "return", "loop"})


def operations(module: Module) -> int:
    """How many operations one iteration of the kernel's last loop has."""
    kernel = module.functions["k"]
    loops = [op for op in walk(kernel.body) if op.opcode == "loop"]
    return sum(op.opcode not in _FREE and not _of_variable(kernel, op) for op in walk(loops[-1].regions[0]))


def _of_variable(kernel: Function, op: Op) -> bool:
    """Whether it only reads or sets a variable."""
    return op.opcode in ("load", "store") and kernel.memories[memory_name(op)].length == 1


def rate(source: str, iterations: int) -> float:
    """Operations in a second of processor time; compilation, which takes place in processes of its own, is not
    counted."""
    module = parse_source(source).module
    emulator, o = Emulator(module), np.ones(1024, "u4")
    emulator.run("k", {"o": o}, {"n": 1}, IndexSpace.of((1,)))
    before = time.process_time()
    emulator.run("k", {"o": o}, {"n": iterations}, IndexSpace.of((1,)))
    return iterations * operations(module) / (time.process_time() - before)


def main():
    """Prints a row for each kernel."""
    for name, source in KERNELS.items():
        print(
            f"{name:12} {operations(parse_source(source).module):3} operations an iteration, "
            f"{rate(source, 20_000_000) / 1e6:8,.0f} million a second"
        )


if __name__ == "__main__":
    main()
