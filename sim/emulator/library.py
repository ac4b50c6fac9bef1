"""Loads a compiled program and runs its kernels on the host's memory. The structures mirror hls/emulate/runtime.h."""

import ctypes
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hls.emulate import Argument, KernelText, ProgramText, write_program
from hls.ir import ArrayType, FloatType, Module, Type
from hls.ir.launch import OVERLAP, IndexSpace

from .build import build_library
from .faults import FINISHED, EmulationError, Ending, UnsetRead, message

__all__ = ["Emulator", "Outcome"]

#: Iterations of one invocation of one loop after which it is taken to have no end.
MAX_ITERATIONS = 1 << 32


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_uint64)]


class _Launch(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_uint64), ("buffers", ctypes.POINTER(_Buffer)),
                ("scalars", ctypes.POINTER(ctypes.c_uint8)),
                *((name, ctypes.c_uint64 * 3) for name in ("global_size", "local_size", "num_groups", "global_offset")),
                ("work_dim", ctypes.c_uint64)]


class _Control(ctypes.Structure):
    _fields_ = [("stop", ctypes.c_uint64), ("max_iterations", ctypes.c_uint64),
                ("unset_reads", ctypes.POINTER(ctypes.c_uint64)), ("ending", ctypes.c_uint64), ("site", ctypes.c_uint64),
                ("memory", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("offset", ctypes.c_int64), ("size", ctypes.c_uint64)]


@dataclass(frozen=True)
class Outcome:
    """A finished run: wall time, and what was read before it was written, one entry a place."""

    seconds: float
    unset_reads: tuple[UnsetRead, ...]


class Emulator:
    """The kernels of a module of IR, of any stage of the compiler; compiled at the first run.

    ``hasty``: a third of the time to compile, many times that to run. For kernels of few iterations.
    """

    def __init__(self, module: Module, hasty: bool = False):
        self._hasty = hasty
        self._program: ProgramText = write_program(module)
        self._kernels = {kernel.name: k for k, kernel in enumerate(self._program.kernels)}
        self._lock = threading.Lock()

    @cached_property
    def _run(self):
        run = ctypes.CDLL(str(build_library(self._program.text, self._hasty))).sluice_run
        run.argtypes, run.restype = [ctypes.POINTER(_Launch), ctypes.POINTER(_Control)], None
        return run

    def run(self, kernel: str, buffers: Mapping[str, np.ndarray], scalars: Mapping[str, int | float],
            space: IndexSpace, max_iterations: int | None = None) -> Outcome:
        """Run a kernel to its end; ``buffers`` are contiguous arrays by parameter name, changed in place.

        Scalars are wrapped or rounded to the parameter's type. ``max_iterations`` bounds every invocation of every loop; it is
        $SLUICE_MAX_ITERATIONS, or 2**32. Raises EmulationError when the run goes wrong, KeyboardInterrupt with the place
        when it is interrupted, and BuildError or ToolMissing at the first run.
        """
        text = self._program.kernels[self._kernels[kernel]]
        launch, kept = self._launch(text, buffers, scalars, space)
        counts = (ctypes.c_uint64 * len(self._program.sites))()
        limit = max_iterations or int(os.environ.get("SLUICE_MAX_ITERATIONS") or MAX_ITERATIONS)
        control = _Control(0, limit, counts)
        with self._lock:
            run = self._run
            started = time.perf_counter()
            interrupted = _call(run, launch, control)
            seconds = time.perf_counter() - started
        del kept
        if control.ending != FINISHED:
            ending = Ending(control.ending, control.site, control.memory, control.bytes, control.offset, control.size, limit)
            error = EmulationError(message(self._program, kernel, ending))
            raise KeyboardInterrupt(str(error)) if interrupted else error
        return Outcome(seconds, tuple(self._unset(kernel, counts)))

    def _launch(self, text: KernelText, buffers, scalars, space: IndexSpace) -> tuple[_Launch, list]:
        """The launch, and what has to live as long as it does."""
        views = [np.frombuffer(memoryview(buffers[name]).cast("B"), np.uint8) if memoryview(buffers[name]).nbytes
                 else np.zeros(0, np.uint8) for name in text.buffers]
        table = (_Buffer * len(views))(*(_Buffer(v.ctypes.data if v.size else None, v.size) for v in views))
        numbers = (ctypes.c_uint8 * text.argument_bytes)()
        for argument in text.scalars:
            _put(numbers, argument, _bytes(scalars[argument.name], argument.type))
        for argument in text.launch_args:
            value = 1 if argument.name == OVERLAP else space.argument(argument.name)
            _put(numbers, argument, _bytes(value, argument.type))
        sizes = [(ctypes.c_uint64 * 3)(*size) for size in (space.global_size, space.local_size, space.groups, space.offset)]
        return _Launch(self._kernels[text.name], table, numbers, *sizes, space.work_dim), [views, table, numbers]

    def _unset(self, kernel: str, counts):
        found: dict = {}
        for site, count in zip(self._program.sites, counts):
            if count:
                found[site.span] = found.get(site.span, 0) + count
        return (UnsetRead(kernel, span, count) for span, count in found.items())


def _put(numbers, argument: Argument, data: bytes):
    numbers[argument.offset:argument.offset + len(data)] = data


def _bytes(value, type: Type) -> bytes:
    """A scalar's bytes; a vector or struct is given as what has them (a numpy array or scalar, bytes)."""
    if isinstance(type, ArrayType):
        data = memoryview(value).tobytes()
        if len(data) != type.bytes:
            raise ValueError(f"{len(data)} bytes are given for a value of {type.bytes}")
        return data
    if isinstance(type, FloatType):
        return np.dtype(f"f{type.bytes}").type(value).tobytes()
    return (int(value) & (1 << type.bits) - 1).to_bytes(type.bytes, "little")


def _call(run, launch: _Launch, control: _Control) -> bool:
    """Run in a thread, so that an interrupt from the keyboard arrives here; whether one did."""
    finished = threading.Event()

    def work():
        run(ctypes.byref(launch), ctypes.byref(control))
        finished.set()

    threading.Thread(target=work, daemon=True).start()
    interrupted = False
    while not finished.is_set():
        try:
            finished.wait()
        except KeyboardInterrupt:  # Thread.join would take the thread for ended here
            control.stop, interrupted = 1, True
    return interrupted
