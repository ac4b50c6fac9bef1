"""Many kernels in one simulated system: built once, each run compared with the interpreter byte by byte."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from hls import driver
from hls.ir import Attr, Function, Module, walk
from hls.ir.interpreter import run_kernel
from hls.ir.launch import IndexSpace, launch_value
from hls.options import Options
from hls.output_files import written_verilog
from hls.rtl.interface import KernelInterface
from hls.target.board import Board, load_board
from sim.loaded import LoadedSystem, Run
from sim.shared import SharedMemory

from .chosen import chosen

__all__ = ["Difference", "KernelSystem", "Launch", "difference", "kernel_names", "with_both_levels"]

#: Bytes around each buffer that a kernel must leave alone; more than a memory word.
MARGIN = 96
#: What no launch here needs; a kernel that stands still is given up then.
MAX_CYCLES = 400_000


class Difference(AssertionError):
    """A run on the board did something else than the interpreter."""


@dataclass(frozen=True)
class Launch:
    """What a kernel is started with: arrays and scalars by parameter name, and the index space.

    ``misalign`` counts elements, or what the kernel moves at a time, by which each buffer's address misses a multiple
    of the memory word. ``overlap`` makes the hardware keep the order it would need if buffers were shared; they are
    not, so nothing may change. ``shared`` holds the bytes of local memory arguments.
    """

    buffers: Mapping[str, np.ndarray]
    scalars: Mapping[str, int | float] = field(default_factory=dict)
    global_size: Sequence[int] = (1,)
    local_size: Sequence[int] | None = None
    offset: Sequence[int] | None = None
    misalign: int = 0
    overlap: bool = False
    shared: Mapping[str, int] = field(default_factory=dict)


class KernelSystem:
    """Every kernel of one source, or those that ``choose`` chooses of them, compiled with stall sources, in one
    simulator; with each, those that channels join it to.

    The simulator is built at the first run. Raises CompileError for a source that cannot be built.
    """

    def __init__(
        self,
        source: str,
        board: str | Board = "de5net",
        elastic_depth: int = 0,
        fpc: bool = False,
        flush: bool = False,
        fp_relaxed: bool = False,
        counters: str | None = None,
        probe: bool = False,
        intervals: int = 0,
        feed_forward: str = "never",
        copy_bytes: int = 0,
        choose: Callable[[frozenset[str]], frozenset[str]] = lambda kernels: kernels,
    ):
        self.source = source
        self.board = load_board(board) if isinstance(board, str) else board
        options = Options(
            random_stalls=True,
            ram_faults=True,
            elastic_depth=elastic_depth,
            fpc=fpc,
            denorms_are_zero=flush,
            fp_relaxed=fp_relaxed,
            counters=counters,
            probe=probe,
            feed_forward=feed_forward,
            copy_bytes=copy_bytes,
        )
        front = driver.parsed(source, options, "kernel.cl")
        _keep(front.module, choose)
        self.result = driver.compile_module(front.module, self.board, options, tuple(front.warnings))
        self.memory = SharedMemory(self.board.bytes)
        verilog = written_verilog(self.result)  # what is simulated is what users get
        self.loaded = LoadedSystem(verilog, self.result.interface, self.board, self.memory, hasty=True)
        self.loaded.intervals = intervals

    @property
    def kernels(self) -> dict[str, KernelInterface]:
        return {k.name: k for k in self.result.interface.kernels}

    def plan(self, kernel: str):
        """The KernelPlan of a kernel."""
        return next(k.plan for k in self.result.kernels if k.plan.name == kernel)

    def close(self) -> None:
        self.loaded.close()
        self.memory.close()

    def expected(self, kernel: str, launch: Launch) -> dict[str, np.ndarray]:
        """The buffers after the interpreter ran the kernel as the frontend made it."""
        buffers = {name: array.copy() for name, array in launch.buffers.items()}
        run_kernel(
            self.result.module,
            kernel,
            {name: array.view(np.uint8) for name, array in buffers.items()} | dict(launch.shared),
            launch.scalars,
            launch.global_size,
            launch.local_size,
            launch.offset,
            max_iterations=MAX_CYCLES,
        )
        return buffers

    def check(self, kernel: str, launches: Sequence[Launch], seeds: Sequence[int] = (0,)) -> list[dict]:
        """For each seed of stalls (0: none) run the launches one after the other, with a reset before the first only.

        Returns the statistics of all runs in that order. Raises :class:`Difference` when a byte in or around a buffer
        is not what the interpreter leaves there, or the run reports an error; SimulationError when it does not end;
        ProfileError when the accounts do not sum to the cycles.
        """
        expected = [self.expected(kernel, launch) for launch in launches]
        found = []
        for seed in seeds:
            self.loaded.session.reset(seed)
            for k, launch in enumerate(launches):
                found.append(self._check(kernel, launch, expected[k], f"{kernel}, launch {k}, seed {seed}"))
        return found

    def run(self, kernel: str, launch: Launch, seed: int = 0) -> tuple[dict, dict[str, np.ndarray]]:
        """Statistics and buffers of one run after a reset, compared with nothing: for what the interpreter cannot
        know."""
        self.loaded.session.reset(seed)
        run, places = self.launch(kernel, launch)
        buffers = {
            name: self.memory.contents[places[name] : places[name] + array.nbytes].copy().view(array.dtype)
            for name, array in launch.buffers.items()
        }
        return self.result.decode(kernel, run.counters), buffers

    def _check(self, kernel, launch, expected, where) -> dict:
        run, places = self.launch(kernel, launch)
        self._judge(where, launch, expected, places, run)
        return self.result.decode(kernel, run.counters)

    def launch(self, kernel: str, launch: Launch) -> tuple[Run, dict[str, int]]:
        """One run, compared with nothing, and where its buffers lie."""
        interface = self.kernels[kernel]
        places = self._place(kernel, launch)
        scalars = {a.name: _bits(interface, a, launch.scalars) for a in interface.arguments if a.kind == "scalar"}
        space = IndexSpace.of(launch.global_size, launch.local_size, launch.offset)
        held = {name: array.nbytes for name, array in launch.buffers.items()}
        sizes = {name: launch_value(name, space, launch.overlap, held) for name in interface.launch}
        with _limited():
            return self.loaded.run(interface, places | scalars | dict(launch.shared), sizes), places

    def addresses(self, kernel: str, launch: Launch) -> dict[str, int]:
        """Where each buffer of a launch lies, by name: in the memory that its argument asks for."""
        arguments = {argument.name: argument for argument in self.kernels[kernel].arguments}
        homes = {name: self.board.memory_named(argument.memory) for name, argument in arguments.items()}
        places, free = {}, {memory.name: memory.base + 4096 for memory in self.board.memories}
        for name, array in launch.buffers.items():
            home = homes.get(name, self.board.memory)  # a launch may have buffers for several kernels
            # a buffer is aligned to what the kernel moves at a time, also in narrow memory
            step = max(array.itemsize, arguments[name].alignment if name in arguments else 1)
            unit = max(home.word_bytes, step)
            places[name] = -(-(free[home.name] + MARGIN) // unit) * unit + launch.misalign * step
            free[home.name] = places[name] + array.nbytes + MARGIN
        return places

    def _place(self, kernel: str, launch: Launch) -> dict[str, int]:
        """Write the buffers into memory, each with margins of known bytes; their addresses by name."""
        places = self.addresses(kernel, launch)
        for name, array in launch.buffers.items():
            around = self.memory.contents[places[name] - MARGIN : places[name] + array.nbytes + MARGIN]
            around[:] = _pattern(around.size)
            around[MARGIN : MARGIN + array.nbytes] = array.view(np.uint8)
        self.memory.publish([(places[name], places[name] + array.nbytes) for name, array in launch.buffers.items()])
        return places

    def _judge(self, where, launch, expected, places, run: Run):
        # a loop with a late exit may have read ahead of its end: only what the kernel itself reports is an error
        if run.status or any(not fault.kind.is_read for fault in run.faults):
            raise Difference(f"{where}: status {run.status:#x}, {run.fault}")
        for name, array in expected.items():
            around = self.memory.contents[places[name] - MARGIN : places[name] + array.nbytes + MARGIN]
            found = around[MARGIN : MARGIN + array.nbytes].copy().view(array.dtype)
            text = difference(found, array, launch.buffers[name])
            if text:
                raise Difference(f"{where}: {name}{text}")
            outside = np.concatenate([around[:MARGIN], around[MARGIN + array.nbytes :]])
            pattern = _pattern(around.size)
            if not np.array_equal(outside, np.concatenate([pattern[:MARGIN], pattern[MARGIN + array.nbytes :]])):
                raise Difference(f"{where}: bytes around {name} were written")


def difference(found: np.ndarray, expected: np.ndarray, before: np.ndarray) -> str:
    """Where two arrays differ in bytes, as the end of a sentence; empty when they do not."""
    bits = np.dtype(f"u{expected.itemsize}")
    wrong = np.flatnonzero(found.view(bits) != expected.view(bits))
    if not wrong.size:
        return ""
    k = wrong[0]
    return (
        f"[{k}] is {found[k]!r}, not {expected[k]!r} (was {before[k]!r}); "
        f"{wrong.size} of {expected.size} elements differ: {wrong[:12].tolist()}"
    )


def with_both_levels(source: str):
    """The fixture ``system`` of a file whose kernels are built twice: with stall-free and with stall-enabled levels."""

    @pytest.fixture(scope="module", params=[0, 1000], ids=["stall_free", "stall_enabled"])
    def system(request):
        system = KernelSystem(source, elastic_depth=request.param, choose=chosen(request))
        yield system
        system.close()

    return system


def kernel_names(source: str) -> list[str]:
    """The kernels of a source text, in order."""
    return re.findall(r"__kernel\s+void\s+(\w+)\(", source)


def _keep(module: Module, choose: Callable[[frozenset[str]], frozenset[str]]) -> None:
    """Remove the kernels that are not chosen, nor joined by channels with one that is."""
    kernels = {kernel.name: frozenset(_channels(kernel)) for kernel in module.kernels}
    helpers = {name for f in module.functions.values() if f.kind != "kernel" for name in _channels(f)}
    kept = set(choose(frozenset(kernels)))
    if helpers or not module.channels.keys() >= frozenset().union(*kernels.values()):
        return  # channels of functions and pipes: who is at their ends is seen later
    while more := {k for k, ends in kernels.items() if ends & frozenset().union(*map(kernels.get, kept))} - kept:
        kept |= more
    for name in kernels.keys() - kept:
        del module.functions[name]


def _channels(function: Function) -> Iterator[str]:
    """The names of the channels that a function reads or writes itself."""
    return (op.attrs[Attr.CHANNEL] for op in walk(function.body) if Attr.CHANNEL in op.attrs)


def _pattern(size: int) -> np.ndarray:
    return (np.arange(size) * 37 + 11).astype(np.uint8)


def _bits(interface: KernelInterface, argument, scalars: Mapping[str, int | float]) -> int:
    value = scalars[argument.name]
    if isinstance(value, np.ndarray):  # a vector or struct
        return int.from_bytes(value.tobytes(), "little")
    if argument.c_type.split()[-1] == "float":
        return int(np.float32(value).view(np.uint32))
    return int(value) & (1 << 8 * argument.bytes) - 1


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    before = os.environ.get("SLUICE_MAX_CYCLES")
    os.environ["SLUICE_MAX_CYCLES"] = str(MAX_CYCLES)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SLUICE_MAX_CYCLES"]
        else:
            os.environ["SLUICE_MAX_CYCLES"] = before
