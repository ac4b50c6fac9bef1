"""Shared code of the example host programs: their sizes, the comparison with numpy, and the data for the benchmark."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["Board", "Launch", "check", "check_near", "options"]


@dataclass(frozen=True)
class Launch:
    """One finished kernel run, and the least work that any hardware has to do for it."""

    kernel: str
    event: object  #: the OpenCL event, already waited for
    trips: int  #: iterations of the innermost loops (work-items, where a work-item has no loop)
    bytes: int  #: bytes that have to cross the memory bus once
    others: int = 0  #: bytes that concurrent kernels have to move
    cycles: int = 0  #: least cycles of the work for another reason, such as the number of multipliers
    random: int = 0  #: words of memory that are read at addresses scattered over a buffer
    case: str = ""  #: distinguishes it from other launches of the kernel
    placed: Mapping[str, int] | None = None  #: the bank, from 1 on, that the program chose for each buffer


@dataclass(frozen=True)
class Job:
    """Launches that do one piece of work, one after the other."""

    kernel: str  #: its name in tables
    launches: Sequence[Launch]
    case: str = ""


class Board:
    """A queue and the kernels of a file, built with ``options``; ``cl`` is the program's OpenCL module, which may be
    any implementation."""

    def __init__(self, cl, source: Path, options: Sequence[str] = ()):
        self.cl, self.context = cl, cl.create_some_context()
        self.queue = cl.CommandQueue(self.context)
        self.program = cl.Program(self.context, source.read_text()).build(options=list(options))

    def buffer(self, values: np.ndarray, bank: int = 0):
        """A buffer that is initialized with these values, in ``bank`` (from 1 on) if the program was built with
        -no-interleaving."""
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
        if bank:
            flags |= getattr(self.cl.mem_flags, f"CHANNEL_{bank}_INTELFPGA")
        return self.cl.Buffer(self.context, flags, hostbuf=np.ascontiguousarray(values))

    def run(self, kernel: str, size: tuple[int, ...], group: tuple[int, ...] | None, *args):
        """Launch a kernel, and wait; returns its event."""
        event = self.cl.Kernel(self.program, kernel)(self.queue, size, group, *args)
        event.wait()
        return event

    def fetch(self, device, like: np.ndarray) -> np.ndarray:
        """The contents of a buffer, as an array of the shape and type of ``like``."""
        found = np.empty_like(like)
        self.cl.enqueue_copy(self.queue, found, device).wait()
        return found


def options(description: str, argv: list[str] | None, **defaults: int):
    """The program's integer options: ``--name N``, else the variable SLUICE_EXAMPLE_NAME, else the default."""
    parser = argparse.ArgumentParser(description=description)
    for name, value in defaults.items():
        fallback = os.environ.get(f"SLUICE_EXAMPLE_{name.upper()}", value)
        parser.add_argument(f"--{name}", type=int, default=fallback, help=f"default: {value}")
    args = parser.parse_args(argv)
    for name in defaults:
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return args


def check(what: str, got: np.ndarray, expected: np.ndarray) -> None:
    """Compare every byte; print the outcome, and end the program with exit code 1 if one differs."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        sys.exit(f"{what}: FAILED: {got.dtype}{got.shape} was computed, {expected.dtype}{expected.shape} expected")
    if got.tobytes() == expected.tobytes():
        print(f"{what}: result check passed ({got.size} values, all bytes equal)")
        return
    bits = np.dtype(f"u{got.itemsize}")
    wrong = np.flatnonzero(np.ravel(got).view(bits) != np.ravel(expected).view(bits))
    first = wrong[0]
    sys.exit(
        f"{what}: FAILED: {wrong.size} of {got.size} values differ, first at {first}: "
        f"{np.ravel(got)[first]!r} was computed, {np.ravel(expected)[first]!r} expected"
    )


def check_near(what: str, got: np.ndarray, exact: np.ndarray, tolerance: float) -> None:
    """As :func:`check`, for results of mathematical functions, which may be off by ``tolerance`` at most."""
    off = np.abs(got - exact)
    wrong = np.flatnonzero(~(off <= tolerance))  # what is not a number is wrong, too
    if wrong.size:
        first = wrong[0]
        sys.exit(
            f"{what}: FAILED: {wrong.size} of {got.size} values differ by more than {tolerance:g}, first at {first}: "
            f"{np.ravel(got)[first]!r} was computed, {np.ravel(exact)[first]!r} expected"
        )
    print(f"{what}: result check passed ({got.size} values, off by {off.max():.2g} at most)")
