"""What the server holds for the objects of the host: contexts of one or several boards, buffers, queues, programs."""

import shlex
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hls.diag import Code, CompileError, render
from sim import cl
from sim.cl.aocx import is_archive
from sim.cl.binary import Binary
from sim.cl.build_log import NO_WARNINGS, told_warnings
from sim.cl.constants import status_code
from sim.cl.options import parse_options

from .linking import MAIN, linked_source, part_names, preprocessed

__all__ = ["Built", "CommandQueue", "Context", "Memory", "Program"]

#: of a buffer's flags, those that say something to the board: access, and the bank
BOARD_FLAGS = cl.mem_flags.READ_WRITE | cl.mem_flags.WRITE_ONLY | cl.mem_flags.READ_ONLY | 7 << 16
#: CL_PROGRAM_BINARY_TYPE_...
NOTHING, COMPILED, LIBRARY, EXECUTABLE = 0, 1, 2, 4
KINDS = {"": EXECUTABLE, "object": COMPILED, "library": LIBRARY}
#: what may be missing in a program that is linked with others
OF_OTHERS = (Code.NOT_DEFINED, Code.NO_KERNEL)
#: options of clLinkProgram that change nothing for a compiler that sees all programs at once
OF_LINKS = {"-create-library", "-enable-link-options"}


class Context:
    """A context of the host: one of :mod:`sim.cl` for each device."""

    def __init__(self, devices: Sequence[cl.Device]) -> None:
        self.devices = list(devices)
        self.boards = [cl.Context([device]) for device in devices]


class Memory:
    """A buffer, or a part of one. It lies on one board at a time, and moves where it is used."""

    def __init__(self, context: Context, flags: int, size: int) -> None:
        self._context, self._flags, self.size = context, flags & BOARD_FLAGS, size
        self._place = 0
        self._buffer = cl.Buffer(context.boards[0], self._flags, size)

    def on(self, place: int) -> cl.Buffer:
        """The buffer on the board of that place in the context. Raises cl.MemoryError where there is no room."""
        if place != self._place:
            old, new = self._buffer, cl.Buffer(self._context.boards[place], self._flags, self.size)
            with old.context.simulated.guard:
                old.settle()
                new.contents[:] = old.contents
            self._place, self._buffer = place, new
        return self._buffer

    def part(self, origin: int, size: int) -> "Part":
        """A sub-buffer."""
        return Part(self, origin, size)


class Part:
    """A sub-buffer, which moves with its buffer."""

    def __init__(self, whole: Memory, origin: int, size: int) -> None:
        self._whole, self._origin, self.size = whole, origin, size
        self._of: cl.Buffer | None = None
        self._part: cl.Buffer | None = None

    def on(self, place: int) -> cl.Buffer:
        """The same as of :class:`Memory`."""
        whole = self._whole.on(place)
        if self._part is None or self._of is not whole:
            self._of, self._part = whole, whole.get_sub_region(self._origin, self.size)
        return self._part


class CommandQueue:
    """A queue of the host. Launches of one without an order are ordered by their events alone."""

    def __init__(self, context: Context, place: int, properties: int) -> None:
        self.context, self.place = context.boards[place], place
        self._in_order = not properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        self._queue = cl.CommandQueue(self.context)

    def for_launch(self) -> cl.CommandQueue:
        """The queue for the next launch."""
        return self._queue if self._in_order else cl.CommandQueue(self.context)

    @property
    def queue(self) -> cl.CommandQueue:
        """The queue that commands of the host are recorded with."""
        return self._queue


@dataclass(frozen=True)
class Built:
    """What came of a build for one device: OpenCL's code, the type of its binary, the log, and the program."""

    code: int
    kind: int
    log: str
    program: cl.Program | None = None
    part: Binary | None = None  #: of a program that is to be linked
    told: tuple[str, ...] = ()  #: what was warned of in such a program

    @property
    def binary(self) -> bytes:
        """The program in serialized form; empty if it was not built."""
        if self.part is not None:
            return self.part.to_bytes()
        return self.program.binaries[0] if self.program is not None else b""


@dataclass
class Program:
    """A program of the host: a source, or a binary for each device, by its place in the context."""

    context: Context
    source: str = ""
    binaries: Mapping[int, bytes] = field(default_factory=dict)
    built: dict[int, Built] = field(default_factory=dict)
    #: source and options of clCompileProgram, for clLinkProgram
    compiled: dict[int, Binary] = field(default_factory=dict)
    _headers: tempfile.TemporaryDirectory[str] | None = None  #: those of clCompileProgram
    _kernels: dict[tuple[int, str], cl.Kernel] = field(default_factory=dict)
    _deferred: dict[int, str] = field(default_factory=dict)  #: options of builds that the first launch makes
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, place: int) -> int:
        """The type of a binary; one that is to be linked counts as compiled. Raises cl.Error for one that is none, or
        of another board."""
        part = _part(self.binaries[place])
        if part is None:
            self._made(place)
            return EXECUTABLE
        self.compiled[place] = part
        return KINDS[part.part]

    def _made(self, place: int) -> cl.Program:
        board = self.context.boards[place]
        if place in self.binaries:
            return cl.Program(board, board.devices, [self.binaries[place]])
        return cl.Program(board, self.source)

    def build(self, place: int, options: str) -> Built:
        """Compile and link for one device."""
        self.forget(place)
        try:
            program = self._made(place)
            program.build(options)
            found = Built(0, EXECUTABLE, program.get_build_info(None, cl.program_build_info.LOG), program)
        except (cl.Error, ValueError) as error:
            found = Built(*_failure(error))
        self.built[place] = found
        return found

    def forget(self, place: int) -> None:
        """Drop what was built for a device."""
        self._kernels.clear()
        self.built.pop(place, None)
        self._deferred.pop(place, None)

    def defer(self, place: int, options: str) -> None:
        """Build when the first kernel is needed: it is known to go well."""
        self._deferred[place] = options

    def compile(self, place: int, options: str, headers: Mapping[str, str]) -> Built:
        """Check the program alone, and keep it for :meth:`link`."""
        self.forget(place)
        from hls.frontend import Options as FrontendOptions
        from hls.frontend import parse_source

        try:
            words = (*self._include(headers), *shlex.split(options))
            chosen = parse_options([word for word in words if word != "-create-library"], Path.cwd())
            try:
                folders = [str(d) for d in chosen.include_dirs]
                constants = FrontendOptions(chosen.single_precision)
                parsed = parse_source(self.source, MAIN, chosen.defines, folders, constants, known_as=self._known())
            except CompileError as error:
                # what is only declared may be defined by another program, which the link finds out
                if not all(one.code in OF_OTHERS for one in error.diagnostics):
                    raise
                warnings, sources = error.warnings, error.sources
            else:
                warnings, sources = parsed.warnings, parsed.module.sources
            told = told_warnings(warnings, sources, words)
            # it is linked, or saved, when headers and folders may be gone
            self.compiled[place] = preprocessed(Binary(self.source, words), "object", known_as=self._known())
            found = Built(0, COMPILED, "\n".join(told), part=self.compiled[place], told=told)
        except (cl.Error, CompileError, ValueError) as error:
            found = Built(*_failure(error))
        self.built[place] = found
        return found

    def _include(self, headers: Mapping[str, str]) -> tuple[str, ...]:
        """Options that let the compiler find the headers."""
        if not headers:
            return ()
        self._headers = tempfile.TemporaryDirectory(prefix="sluice-headers-")
        for name, text in headers.items():
            path = Path(self._headers.name, *[part for part in Path(name).parts if part not in ("/", "..")])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return ("-I", self._headers.name)

    def _known(self) -> dict[str, str]:
        """Headers of the host have the names that it gave them, wherever they are kept."""
        return {self._headers.name: ""} if self._headers else {}

    def link(self, place: int, options: str, inputs: Sequence["Program"]) -> Built:
        """Make this program of compiled ones."""
        words = [word for word in shlex.split(options) if word not in OF_LINKS]
        library = "-create-library" in shlex.split(options)
        try:
            parts = [one.compiled[place] for one in inputs]
            told = () if NO_WARNINGS in words else _told_of_parts(place, inputs, part_names(parts))
            self.source, more = linked_source(parts)
            if library:
                options_left = tuple(word for word in words if word != "-create-library")
                self.compiled[place] = part = Binary(self.source, (*more, *options_left), "library")
                found = Built(0, LIBRARY, "\n".join(told), part=part, told=told)
            else:
                program = cl.Program(self.context.boards[place], self.source)
                program.build([*more, *words])
                log = program.get_build_info(None, cl.program_build_info.LOG)
                found = Built(0, EXECUTABLE, _with_told(log, told), program)
        except KeyError:
            text = "a program was built or made from a binary, and not compiled: pass its source to clCompileProgram"
            found = Built(status_code.INVALID_PROGRAM, NOTHING, text)
        except (cl.Error, CompileError, ValueError) as error:
            found = Built(*_failure(error))
        self.built[place] = found
        return found

    def kernel(self, place: int, name: str) -> cl.Kernel:
        """The kernel of a built program. Raises cl.Error where there is none, and where the build that was put off
        until now fails."""
        with self._lock:
            if place in self._deferred and (built := self.build(place, self._deferred[place])).program is None:
                raise cl.RuntimeError("clBuildProgram", built.code, built.log)
        key = (place, name)
        if key not in self._kernels:
            program = self.built[place].program
            if program is None:
                raise cl.LogicError(
                    "clCreateKernel", status_code.INVALID_PROGRAM_EXECUTABLE, "the program is not built"
                )
            self._kernels[key] = cl.Kernel(program, name)
        return self._kernels[key]


def _told_of_parts(place: int, inputs: Sequence[Program], names: Sequence[str]) -> tuple[str, ...]:
    """What was warned of when parts of a program were compiled, with their ``names`` in the whole. A binary has no
    warnings: those were told when it was made."""
    built = [(one.built.get(place), name) for one, name in zip(inputs, names, strict=True)]
    told = [text.replace(MAIN, name) for one, name in built if one is not None for text in one.told]
    return tuple(dict.fromkeys(told))


def _with_told(log: str, told: Sequence[str]) -> str:
    """A log behind those warnings about its parts that it does not repeat: preprocessed text shows less, such as which
    names come from macros."""
    lines = set(log.splitlines())
    return "\n".join([*(text for text in told if text.partition("\n")[0] not in lines), *filter(None, [log])])


def _part(data: bytes) -> Binary | None:
    """The program in a binary that is to be linked with others; None for any other."""
    if is_archive(data):
        return None
    found = Binary.of(data)
    return found if found.part else None


def _failure(error: Exception) -> tuple[int, int, str]:
    if isinstance(error, cl.Error):
        return error.code, NOTHING, error.what.lstrip("\n")
    if isinstance(error, CompileError):
        text = "\n".join(render(one, error.sources) for one in error.diagnostics)
        return status_code.BUILD_PROGRAM_FAILURE, NOTHING, text
    return status_code.INVALID_BUILD_OPTIONS, NOTHING, str(error)  # of shlex: quotes that do not end
