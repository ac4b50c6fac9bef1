"""The model's cycles beside the hardware's, for every example: ``python -m tests.model.compare [EXAMPLE...]``."""

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import sim.cl.program as program_module
from sim.cl.memory import Buffer
from tests.examples.hosts import load

from .from_plan import KernelRun, run_kernel_model

__all__ = ["SIZES", "Comparison", "compare"]

#: Large enough for the steady state to count, small enough to be simulated in Python.
SIZES = {
    "collatz": ["--n=100"],
    "conv2d": ["--width=60", "--height=40"],
    "divergent": ["--rows=64", "--skewed_rows=200"],
    "dot": ["--n=700"],
    "fir": ["--n=4000"],
    "mandelbrot": ["--width=24", "--height=16", "--limit=30"],
    "matmul": ["--n=16"],
    "saxpy": ["--n=4000"],
    "threshold": ["--width=100", "--height=40"],
    "triangular": ["--n=64"],
    "vecadd": ["--n=4000"],
}


@dataclass(frozen=True)
class Comparison:
    """One launch: ``stats`` as the hardware counted them, and the model's run."""

    example: str
    stats: dict
    model: KernelRun

    @property
    def hardware(self) -> int:
        return self.stats["cycles"]

    @property
    def error(self) -> float:
        """How much longer the model takes than the hardware, as a share of the hardware's cycles."""
        return self.model.cycles / self.hardware - 1


@dataclass(frozen=True)
class _Launch:
    """A launch as it was before it ran."""

    program: object
    kernel: str
    buffers: dict
    addresses: dict
    scalars: dict
    sizes: tuple
    age: int  #: cycles that the simulated board has been running

    @classmethod
    def of(cls, program, kernel, values, space):
        named = {argument.name: value.value for argument, value in zip(kernel.arguments, values, strict=True)}
        buffers = {name: value for name, value in named.items() if isinstance(value, Buffer)}
        scalars = {name: value.item() for name, value in named.items() if name not in buffers}
        n = space.work_dim
        return cls(program, kernel.name, {name: bytearray(b.bytes) for name, b in buffers.items()},
                   {name: b.address for name, b in buffers.items()}, scalars,
                   (space.global_size[:n], space.local_size[:n], space.offset[:n]), program.system.session.cycle())

    def on_model(self) -> KernelRun:
        result = self.program.result
        kernel = next(k for k in result.kernels if k.function.name == self.kernel)
        return run_kernel_model(kernel, result.board, self.buffers, self.addresses, self.scalars, self.sizes, self.age)


@contextmanager
def _launches():
    """Every launch of a board inside, in order, with its event."""
    seen, execute = [], program_module.execute

    def watched(program, kernel, values, space):
        launch = _Launch.of(program, kernel, values, space)
        event = execute(program, kernel, values, space)
        seen.append((launch, event))
        return event

    with mock.patch.object(program_module, "execute", watched):
        yield seen


def compare(example: str, options: list[str]) -> list[Comparison]:
    """Runs the example's host program on the simulated board, and every launch of it on the model."""
    with _launches() as seen:
        load(example).main(options)
    return [Comparison(example, event.stats.to_dict(), launch.on_model()) for launch, event in seen]


def main(names):
    print(f"{'kernel':<18} {'options':<34} {'hardware':>9} {'model':>9} {'error':>7}")
    for name in names or sorted(SIZES):
        for one in compare(name, SIZES[name]):
            print(f"{one.stats['kernel']:<18} {' '.join(SIZES[name]):<34} {one.hardware:>9,} {one.model.cycles:>9,} "
                  f"{one.error:>7.2%}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
