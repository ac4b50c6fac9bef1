"""The model's cycles compared with the hardware's, for every example: ``python -m tests.model.compare
[EXAMPLE...]``."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import sim.cl.program as program_module
from hls.driver import Result
from sim.cl.memory import Buffer
from sim.loaded import LoadedSystem
from tests.examples.hosts import load
from tests.kernels.system import KernelSystem, Launch

from .from_plan import KernelRun, run_kernel_model

__all__ = ["SIZES", "Comparison", "compare_example", "compare_kernel"]

#: Large enough for the steady state to count, small enough to be simulated in Python.
SIZES = {
    "collatz": ["--n=40"],
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

    stats: dict
    model: KernelRun

    @property
    def hardware(self) -> int:
        """Cycles from start to done."""
        return self.stats["cycles"]

    @property
    def error(self) -> float:
        """How much longer the model takes than the hardware, as a share of the hardware's cycles."""
        return self.model.cycles / self.hardware - 1


@dataclass(frozen=True)
class _Launch:
    """A launch as it was before it ran: buffers, their addresses and scalars by name; the sizes of the index space."""

    result: Result
    kernel: str
    buffers: dict
    addresses: dict
    scalars: dict
    sizes: tuple

    @classmethod
    def of(cls, program, kernel, values, space) -> "_Launch":
        named = {argument.name: value.value for argument, value in zip(kernel.arguments, values, strict=True)}
        buffers = {name: value for name, value in named.items() if isinstance(value, Buffer)}
        scalars = {name: value.item() for name, value in named.items() if name not in buffers}
        n = space.work_dim
        return cls(
            program._result,
            kernel.name,
            {name: bytearray(b.bytes) for name, b in buffers.items()},
            {name: b.address for name, b in buffers.items()},
            scalars,
            (space.global_size[:n], space.local_size[:n], space.offset[:n]),
        )

    def on_model(self, age: int) -> KernelRun:
        kernel = next(k for k in self.result.kernels if k.function.name == self.kernel)
        return run_kernel_model(kernel, self.result.board, self.buffers, self.addresses, self.scalars, self.sizes, age)


@contextmanager
def _starts() -> Iterator[list[int]]:
    """The cycles of the simulated board in which kernels start inside: its memory refreshes by that count."""
    started, watch = [], LoadedSystem._watch

    def watch_from(system):
        started.append(system.session.cycle() - 1)  # the start was acknowledged in the run's first cycle
        return watch(system)

    with mock.patch.object(LoadedSystem, "_watch", watch_from):
        yield started


@contextmanager
def _launches() -> Iterator[list[tuple]]:
    """Every launch of a board inside, in order: as it was, its event, the cycle in which it started."""
    seen, execute = [], program_module.execute

    def watched(program, queue, kernel, values, space, after):
        launch = _Launch.of(program, kernel, values, space)
        event = execute(program, queue, kernel, values, space, after)
        event.wait()  # one at a time: a launch starts when somebody waits
        seen.append((launch, event, started[-1]))
        return event

    with _starts() as started, mock.patch.object(program_module, "execute", watched):
        yield seen


def compare_example(example: str, options: list[str]) -> list[Comparison]:
    """Runs the example's host program on the simulated board, and every launch of it on the model."""
    with _launches() as seen:
        load(example).main(options)
    return [Comparison(event.stats.to_dict(), launch.on_model(age)) for launch, event, age in seen]


def compare_kernel(system: KernelSystem, kernel: str, launch: Launch) -> Comparison:
    """Runs one launch, checks its bytes, and runs it on the model."""
    with _starts() as started:
        (stats,) = system.check(kernel, [launch])
    sizes = (launch.global_size, launch.local_size, launch.offset)
    buffers = {name: bytearray(array.tobytes()) for name, array in launch.buffers.items()}
    before = _Launch(system.result, kernel, buffers, system.addresses(kernel, launch), launch.scalars, sizes)
    return Comparison(stats, before.on_model(started[-1]))


def main(names: list[str]) -> None:
    """Prints a line for every launch of the examples named, or of all."""
    print(f"{'kernel':<18} {'options':<34} {'hardware':>9} {'model':>9} {'error':>7}")
    for name in names or sorted(SIZES):
        for one in compare_example(name, SIZES[name]):
            print(
                f"{one.stats['kernel']:<18} {' '.join(SIZES[name]):<34} {one.hardware:>9,} {one.model.cycles:>9,} "
                f"{one.error:>7.2%}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
