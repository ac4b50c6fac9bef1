"""Loads a compiled program and runs its kernels, concurrently where channels connect them."""

import ctypes
import shutil
import struct
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hls.emulate import Memories, ProgramText, Tracer, write_program
from hls.ir import Attr, FloatType, Module, Type
from hls.ir.launch import IndexSpace
from hls.ir.text import formatted
from hls.narrow import present
from hls.signals import deferred, temporary_folder
from sim.locks import ProcessLock
from sim.settings import number

from .build import build_library
from .faults import FINISHED, LOOP_LIMIT, WAITING, EmulationError, Ending, UnsetRead, Wait, deadlock, is_silent, message
from .observed import Observation, observation_of
from .structures import Control, Launch, WaitRecord, make_launch

__all__ = ["Emulator", "Outcome", "Started"]

#: Iterations of one invocation of one loop after which it counts as endless.
MAX_ITERATIONS = 1 << 32
#: Most waiting work-items that a deadlock message considers.
MAX_WAITS = 256
#: Rounds in which kernels do nothing but poll channels that are not ready, until they count as waiting: while others
#: may still be started, and when no other launch will come.
SHORT_PATIENCE, LONG_PATIENCE = 10_000, 20_000_000


@dataclass(frozen=True)
class Outcome:
    """Wall time of a run, and its reads of uninitialized elements, one entry per source location."""

    seconds: float
    unset_reads: tuple[UnsetRead, ...]


@dataclass(eq=False)
class Started:
    """A launch, pending or ended; ``parts`` are those of the other parts of a split kernel, which end with it."""

    kernel: str
    number: int
    ended: ctypes.c_uint64
    kept: list[Any] = field(repr=False)
    parts: tuple["Started", ...] = ()

    @property
    def done(self) -> bool:
        """Whether the launch has ended, with or without a fault."""
        return bool(self.ended.value) and all(part.done for part in self.parts)


@dataclass
class Rewinds:
    """What belongs to the mark that launches are rewound to: the ``buffers`` of those that were started since, in this
    order, with copies of what was in them; what launches have ``printed``; and what was ``fed`` to channels."""

    buffers: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    fed: list[tuple[str, int, bytes]] = field(default_factory=list)


class Emulator:
    """The kernels of a module of IR, of any stage of the compiler; compiled at the first run. Channels keep their
    contents between runs.

    ``observe``: every launch counts what it does, see :meth:`observed`, or records it, see :meth:`traced`; slower to
    compile and to run.
    ``hasty``: a third of the time to compile, many times that to run. For kernels of few iterations. ``write`` is
    called with the output of printf, after each run. ``depths`` returns the depths of channels, by name and index, as
    hardware; it is called when no kernel can continue at the depths in the program. ``rewinds``: launches can be run
    again (see :meth:`rewind`), from when none but autorun kernels was running.
    """

    def __init__(
        self,
        module: Module,
        hasty: bool = False,
        write: Callable[[str], object] | None = None,
        depths: Callable[[], Mapping[tuple[str, int], int]] | None = None,
        observe: Memories | Tracer | None = None,
        rewinds: bool = False,
    ) -> None:
        self._hasty, self._write, self._depths = hasty, write, depths
        self._program: ProgramText = write_program(module, observe)
        self._traces = isinstance(observe, Tracer)
        self._kernels = {kernel.name: k for k, kernel in enumerate(self._program.kernels)}
        self._parts: dict[str, list[str]] = {}  #: of split kernels, by the kernel's name
        for kernel in module.kernels:
            if Attr.PART_OF in kernel.attrs:
                self._parts.setdefault(kernel.attrs[Attr.PART_OF], []).append(kernel.name)
        self._lock = threading.Lock()
        self._started: dict[int, Started] = {}
        self._rewinds: Rewinds | None = None  #: since the mark
        self._marks = rewinds
        self._endless = {kernel.name for kernel in module.kernels if Attr.AUTORUN in kernel.attrs}

    def prepare(self) -> None:
        """Compile the program, if that was not done. Raises BuildError or ToolMissing."""
        _ = self._library

    @cached_property
    def _library(self) -> ctypes.CDLL:
        library = _load(build_library(self._program.own, self._hasty, self._program.runtime))
        library.sluice_start.argtypes, library.sluice_start.restype = [ctypes.POINTER(Launch)], ctypes.c_uint64
        library.sluice_deepen.argtypes, library.sluice_deepen.restype = (
            [ctypes.c_uint64, ctypes.c_uint64],
            ctypes.c_uint64,
        )
        library.sluice_reset.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
        library.sluice_feed.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
        library.sluice_held.argtypes, library.sluice_held.restype = [ctypes.c_uint64], ctypes.c_uint64
        library.sluice_drain.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64]
        if self._program.observed:
            library.sluice_observed.argtypes, library.sluice_observed.restype = (
                [ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64],
                ctypes.c_uint64,
            )
        if self._traces:
            library.sluice_traced.argtypes = [
                ctypes.c_uint64,
                ctypes.c_uint32,
                ctypes.POINTER(ctypes.c_void_p),
                ctypes.POINTER(ctypes.c_uint64),
            ]
            library.sluice_traced.restype = ctypes.c_bool
            library.sluice_outcomes.argtypes, library.sluice_outcomes.restype = [ctypes.c_uint64], ctypes.c_void_p
            library.sluice_mark.argtypes = library.sluice_rewind.argtypes = [ctypes.c_uint64]
        if self._program.observed or self._traces:
            library.sluice_forget_observed.argtypes = [ctypes.c_uint64]
        return library

    def run(
        self,
        kernel: str,
        buffers: Mapping[str, object],
        scalars: Mapping[str, object],
        space: IndexSpace,
        max_iterations: int | None = None,
    ) -> Outcome:
        """Start a kernel and run it to its end; see :meth:`start` and :meth:`advance`.

        Raises EmulationError also when it waits for a channel that no other kernel serves; it is given up then.
        """
        started = self.start(kernel, buffers, scalars, space)
        outcome = self.advance(max_iterations, last=True)
        if not started.done:
            error = self.waiting()
            self.reset()
            raise error
        return outcome

    def start(
        self,
        kernel: str,
        buffers: Mapping[str, object],
        scalars: Mapping[str, object],
        space: IndexSpace,
        after: Started | None = None,
    ) -> Started:
        """Prepare a launch; nothing runs yet. ``buffers`` are contiguous arrays by parameter name, changed in place,
        and sizes in bytes for local memory. Scalars are wrapped or rounded to the parameter's type. It begins when
        ``after`` has ended.

        Raises BuildError or ToolMissing at the first launch.
        """
        parts = tuple(self.start(part, buffers, scalars, space, after) for part in self._parts.get(kernel, ()))
        if self._marks and all(one.kernel in self._endless for one in self._started.values()):
            self.mark()
        number, ended = self._kernels[kernel], ctypes.c_uint64(0)
        launch, kept = make_launch(
            number,
            self._program.kernels[number],
            buffers,
            scalars,
            space,
            None if after is None else after.ended,
            ended,
        )
        with self._lock:
            number = self._library.sluice_start(ctypes.byref(launch))
        if self._rewinds is not None:
            self._rewinds.buffers += [(view, view.copy()) for view in kept[0] if view.flags.writeable]
        return self._started.setdefault(number, Started(kernel, number, ended, [launch, kept], parts))

    def advance(self, max_iterations: int | None = None, last: bool = False) -> Outcome:
        """Run all started launches until they have ended or wait for a launch that is yet to come; ``last``: none will
        come, so that a kernel that polls channels is given more rounds.

        ``max_iterations`` bounds every invocation of every loop; the default is $SLUICE_MAX_ITERATIONS, or 2**32.
        Raises EmulationError when a run fails, KeyboardInterrupt with the source location when it is interrupted;
        nothing is left running then.
        """
        outcome = self._advance(max_iterations or number("SLUICE_MAX_ITERATIONS", MAX_ITERATIONS), last)
        if not last or all(one.done for one in self._started.values()) or not self._deepen():
            return outcome
        more = self._advance(max_iterations or number("SLUICE_MAX_ITERATIONS", MAX_ITERATIONS), last)
        return Outcome(outcome.seconds + more.seconds, outcome.unset_reads + more.unset_reads)

    def _deepen(self) -> bool:
        """Set each channel to its depth as hardware; returns whether any became deeper. Waiting kernels continue as if
        it had been so from the beginning, for their behaviour until then does not depend on it."""
        depths, self._depths = self._depths, None
        if depths is None or not self._program.queues:
            return False
        names = [
            (name, 0) if not name.endswith("]") else (name[: name.index("[")], int(name[name.index("[") + 1 : -1]))
            for name in self._program.queues
        ]
        built = depths()
        with self._lock:
            deeper = [self._library.sluice_deepen(number, built.get(name, 0)) for number, name in enumerate(names)]
        return any(deeper)

    def _advance(self, limit: int, last: bool) -> Outcome:
        counts = (ctypes.c_uint64 * max(1, len(self._program.sites)))()
        self._waits = (WaitRecord * MAX_WAITS)()
        control = self._control = Control(
            max_iterations=limit,
            patience=LONG_PATIENCE if last else SHORT_PATIENCE,
            unset_reads=counts,
            waits=self._waits,
            max_waits=MAX_WAITS,
        )
        with self._lock:
            began = time.perf_counter()
            interrupted = _call(self._library.sluice_advance, control)
            seconds = time.perf_counter() - began
            self._show_log(control)
        if control.ending not in (FINISHED, WAITING):
            kernel = self._started[control.launch].kernel
            self.reset()
            ending = Ending.of(control, limit)
            error = EmulationError(
                message(self._program, kernel, ending), is_silent(self._program, ending), ending.kind == LOOP_LIMIT
            )
            raise KeyboardInterrupt(str(error)) if interrupted else error
        if self._rewinds is None:
            self._started = {number: one for number, one in self._started.items() if not one.done}
        return Outcome(seconds, tuple(self._unset(counts)))

    def observed(self, started: Started, main: str = "") -> Observation:
        """What a launch did that has ended; once for each launch of an emulator that was made to ``observe``. Places in
        the file ``main`` have an empty name of the file."""
        with self._lock:
            return observation_of(self._library, self._program, started.kernel, started.number, main)

    def traced(self, started: Started, loops: int) -> list[tuple[int, int]] | None:
        """Where the records of a launch's ``loops`` lie, until :meth:`forget`, or until a launch that has not ended
        continues: address, 0 for a loop without rows, and number of rows. None if the record is not complete, as there
        were too many iterations."""
        found = []
        for loop in range(loops):
            place, count = ctypes.c_void_p(), ctypes.c_uint64()
            if not self._library.sluice_traced(started.number, loop, ctypes.byref(place), ctypes.byref(count)):
                return None
            found.append((place.value or 0, count.value))
        return found

    def forget(self, started: Started) -> None:
        """Forget the records of a launch."""
        self._library.sluice_forget_observed(started.number)

    def outcomes(self, started: Started) -> int:
        """The address of what calls that do not block did in a launch, by place (``hls/emulate/trace.h``)."""
        return int(self._library.sluice_outcomes(started.number) or 0)

    @property
    def marked(self) -> bool:
        """Whether launches can be rewound."""
        return self._rewinds is not None

    def mark(self) -> None:
        """From now on, launches can be rewound: those that have begun to what they are now, others to their beginning.
        Of an emulator that records. printf has no effect until :meth:`commit`."""
        if self._rewinds is not None:
            self.commit()
        with self._lock:
            self._library.sluice_mark(len(self._program.queues))
        self._rewinds = Rewinds()

    def rewind(self, settle: bool = False) -> None:
        """Go back to the mark; the next :meth:`advance` runs all launches again, with the outcomes of calls that are
        known by now. ``settle``: a call whose outcome is not known waits for it."""
        with self._lock:
            self._library.sluice_rewind(int(settle))
        rewinds = present(self._rewinds)
        for view, bytes_then in reversed(rewinds.buffers):
            view[:] = bytes_then
        for given in rewinds.fed:
            self._feed(*given)
        rewinds.printed.clear()

    def commit(self) -> None:
        """Launches stay as they are, and can no longer be rewound."""
        with self._lock:
            self._library.sluice_commit()
        rewinds, self._rewinds = present(self._rewinds), None
        for text in rewinds.printed:
            self._print(text)
        self._started = {number: one for number, one in self._started.items() if not one.done}

    def _print(self, text: str) -> None:
        (self._write or sys.stdout.write)(text)

    def waiting(self) -> EmulationError:
        """An error that says what the launches that have not ended wait for."""
        found = []
        for record in self._waits[: self._control.wait_count]:
            kernel, span = self._started[record.launch].kernel, self._program.sites[record.site].span
            found.append(Wait(kernel, span, self._program.queues[record.channel], bool(record.writes)))
        return EmulationError(deadlock(found))

    def feed(self, channel: str, value_bytes: int, data: bytes) -> None:
        """Put values of ``value_bytes`` each into a channel that is bound to a stream of the board."""
        self._feed(channel, value_bytes, data)
        if self._rewinds is not None:
            self._rewinds.fed.append((channel, value_bytes, data))

    def _feed(self, channel: str, value_bytes: int, data: bytes) -> None:
        with self._lock:
            self._library.sluice_feed(self._program.queues.index(channel), data, len(data) // value_bytes, value_bytes)

    def drain(self, channel: str, value_bytes: int) -> bytes:
        """Take all values out of such a channel."""
        queue = self._program.queues.index(channel)
        with self._lock:
            data = ctypes.create_string_buffer(self._library.sluice_held(queue) * value_bytes)
            self._library.sluice_drain(queue, data, value_bytes)
        return data.raw

    def reset(self) -> None:
        """Give up all launches that have not ended, and empty the channels."""
        with self._lock:
            self._library.sluice_reset(len(self._program.queues), 1)
        self._started.clear()
        self._rewinds = None

    def _show_log(self, control: Control) -> None:
        """Print the output of printf."""
        words = (
            struct.unpack(f"<{control.log_bytes // 8}Q", ctypes.string_at(control.log, control.log_bytes))
            if control.log_bytes
            else ()
        )
        self._library.sluice_free_log(ctypes.byref(control))
        place, write = 0, self._print if self._rewinds is None else self._rewinds.printed.append
        while place < len(words):
            form = self._program.formats[words[place]]
            given = words[place + 1 : place + 1 + len(form.types)]
            write(formatted(form.text, [_value(w, t) for w, t in zip(given, form.types)], form.types))
            place += 1 + len(given)

    def _unset(self, counts: Iterable[int]) -> Iterator[UnsetRead]:
        found: dict[tuple[str, Any], int] = {}
        for site, count in zip(self._program.sites, counts):
            if count:
                place = site.function, site.span
                found[place] = found.get(place, 0) + count
        return (UnsetRead(function, span, count) for (function, span), count in found.items())


_loaded: set[Path] = set()
_loading = ProcessLock()


def _load(path: Path) -> ctypes.CDLL:
    """The library; a copy of it if it is already loaded, since each has its own launches and channels."""
    with _loading:
        first = path not in _loaded
        _loaded.add(path)
    if first:
        return ctypes.CDLL(str(path))
    with temporary_folder(Path(tempfile.gettempdir(), f"sluice-{uuid.uuid4().hex}")) as folder:
        return ctypes.CDLL(str(shutil.copyfile(path, folder / path.name)))


def _value(word: int, type: Type) -> int | float:
    """A word of the log as a value of the type."""
    return struct.unpack("<d", struct.pack("<Q", word))[0] if isinstance(type, FloatType) else word


def _call(run: Callable[[Any], object], control: Control) -> bool:
    """Run in a thread, so that a signal arrives here and stops it; returns whether it was a keyboard interrupt. Signals
    arrive in the main thread alone: in another one it runs at once, which saves most of the time of a short launch."""
    if threading.current_thread() is not threading.main_thread():
        run(ctypes.byref(control))
        return False
    finished = threading.Event()

    def work() -> None:
        run(ctypes.byref(control))
        finished.set()

    def stop() -> None:
        control.stop = 1

    interrupted = False
    try:
        with deferred(stop):
            try:
                threading.Thread(target=work, daemon=True).start()
            except RuntimeError:  # from Python 3.12 on, at the end of the process: no interrupt arrives then
                work()
            while not finished.is_set():
                try:
                    finished.wait()
                except KeyboardInterrupt:  # without our handlers; Thread.join would consider the thread ended here
                    stop()
                    interrupted = True
    except KeyboardInterrupt:
        interrupted = True
    return interrupted
