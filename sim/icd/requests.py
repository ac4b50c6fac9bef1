"""The requests of the library, each a function of the same name: reads its items, and writes those of the answer."""

import contextlib
import math
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hls.limits import MOST_WORK_ITEMS
from hls.rtl.interface import ArgumentInterface
from sim import cl
from sim.cl.constants import kernel_arg_info as arg
from sim.cl.constants import kernel_work_group_info as group
from sim.cl.copies import WITHIN_BOARD
from sim.cl.event import Event, PendingEvent
from sim.cl.profile_files import write_files
from sim.cl.schedule import finish_all
from sim.cl.timeline import TIMELINE
from sim.waveform import finish_waveforms

from .build_answers import answer_to_build, key_of_build
from .device_facts import device_facts
from .objects import Built, CommandQueue, Context, Memory, Part, Program
from .refusal import refusal
from .wire import Reader, Writer

__all__ = ["Requests"]

#: numbers of the kinds of parameters, and of the kinds of arguments, in library/program.h and library/launch.cpp
PARAMETERS = {"buffer": 0, "local": 1, "scalar": 2, "pipe": 3}
NULL, BUFFER, LOCAL, SCALAR = range(4)
#: the vendors' variables for emulation, and the most devices that one may ask for (the host keeps facts of each)
EMULATORS = ("CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA", "CL_CONTEXT_EMULATOR_DEVICE_ALTERA")
MOST_EMULATED = 128
#: most work-items of a kernel that asks for no id
MOST_REPEATS = 1 << 16
T = TypeVar("T")


class Requests:
    """The objects of one host, and what it may ask for. Threads of the host call at the same time."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._lock = threading.Lock()  #: of buffers that may move
        self.devices = _devices()

    def answer(self, request: Reader, writer: Writer) -> int | None:
        """Do what a request asks for; returns a file to send along. Raises cl.Error."""
        for number in request.numbers():
            self._objects.pop(number, None)
        name = request.text()
        return getattr(self, f"_{name}")(request, writer)

    def _find(self, kind: type[T], number: int) -> T:
        found = self._objects.get(number)
        if not isinstance(found, kind):
            raise cl.LogicError("server", cl.status_code.OUT_OF_RESOURCES, f"there is no {kind.__name__} {number}")
        return found

    # ---- objects

    def _devices(self, request: Reader, writer: Writer) -> None:
        writer.number(len(self.devices))
        for device in self.devices:
            facts = device_facts(device)
            writer.number(len(facts))
            for query, value in facts.items():
                writer.number(query).blob(value)

    def _context(self, request: Reader, writer: Writer) -> None:
        number = request.number()
        self._objects[number] = Context([self.devices[index] for index in request.numbers()])

    def _memory(self, request: Reader, writer: Writer) -> int:
        context, place = self._find(Context, request.number()), request.number()
        return context.boards[place].simulated.memory.contents_fd

    def _queue(self, request: Reader, writer: Writer) -> None:
        number, context = request.number(), self._find(Context, request.number())
        self._objects[number] = CommandQueue(context, request.number(), request.number())

    def _buffer(self, request: Reader, writer: Writer) -> None:
        number, context = request.number(), self._find(Context, request.number())
        flags, size, filled = request.number(), request.number(), request.number()
        self._objects[number] = made = Memory(context, flags, size)
        if filled:
            board = context.boards[0].simulated
            with board.guard:
                TIMELINE.command("create", Event(*board.transfer(size)), size)
        writer.number(made.on(0).address)

    def _part(self, request: Reader, writer: Writer) -> None:
        number, whole = request.number(), self._find(Memory, request.number())
        self._objects[number] = whole.part(request.number(), request.number())

    # ---- programs

    def _source(self, request: Reader, writer: Writer) -> None:
        number, context = request.number(), self._find(Context, request.number())
        self._objects[number] = Program(context, request.text())

    def _binary(self, request: Reader, writer: Writer) -> None:
        number, context = request.number(), self._find(Context, request.number())
        places = request.numbers()
        program = Program(context, binaries={place: request.blob() for place in places})
        for place in places:
            try:
                code, why, kind = 0, "", program.check(place)
            except cl.Error as error:
                code, why, kind = error.code, error.what, 0
            writer.number(code).text(why).number(kind)
        self._objects[number] = program

    def _build(self, request: Reader, writer: Writer) -> None:
        program, places, options = self._find(Program, request.number()), request.numbers(), request.text()
        key = None
        if len(places) == 1 and not program.binaries and not program.built.keys() - set(places):
            key = key_of_build(program.context.devices[places[0]], places[0], program.source, options)
        if key is None:
            writer.raw(_answer_to_build(program, places, options)[1])
            return
        program.forget(places[0])
        writer.raw(answer_to_build(key, lambda: _answer_to_build(program, places, options)))
        if not program.built:  # the answer was there
            program.defer(places[0], options)

    def _compile(self, request: Reader, writer: Writer) -> None:
        program, places, options = self._find(Program, request.number()), request.numbers(), request.text()
        headers = {request.text(): request.text() for _ in range(request.number())}
        _write_builds(writer, [program.compile(place, options, headers) for place in places])
        _write_kernels(writer, program)

    def _link(self, request: Reader, writer: Writer) -> None:
        number, context = request.number(), self._find(Context, request.number())
        places, options = request.numbers(), request.text()
        inputs = [self._find(Program, one) for one in request.numbers()]
        self._objects[number] = program = Program(context)
        _write_builds(writer, [program.link(place, options, inputs) for place in places])
        _write_kernels(writer, program)

    # ---- commands

    def _transfer(self, request: Reader, writer: Writer) -> None:
        """Only the time of a copy passes here; the library moves the bytes."""
        queue, kind, ready_ns = self._find(CommandQueue, request.number()), request.number(), request.number()
        count = request.number()
        written, read = ([self._on(number, queue.place) for number in request.numbers()] for _ in range(2))
        board = queue.context.simulated
        with board.guard:
            for buffer in (*written, *read):
                buffer.settle()
            for buffer in written:
                buffer.note_write()
            queued_ns = board.now_ns
            if kind in WITHIN_BOARD:
                times = board.move(count, (written or read)[0].memory, ready_ns)
            else:
                times = board.transfer(count, ready_ns)
            submit_ns = min(max(queued_ns, ready_ns), times[0])
            event = Event(*times, queued_ns=queued_ns, submit_ns=submit_ns, queue=queue.queue, kind=kind)
            TIMELINE.command(kind, event, count)
            _write_times(writer, event)
            writer.numbers(buffer.address for buffer in (*written, *read))

    def _on(self, number: int, place: int) -> cl.Buffer:
        memory = self._objects.get(number)
        if not isinstance(memory, Memory | Part):
            raise cl.LogicError("server", cl.status_code.OUT_OF_RESOURCES, f"there is no buffer {number}")
        with self._lock:
            return memory.on(place)

    def _launch(self, request: Reader, writer: Writer) -> None:
        number, queue = request.number(), self._find(CommandQueue, request.number())
        program, name = self._find(Program, request.number()), request.text()
        kind, _ready_ns = request.number(), request.number()
        offset, size, group_size, before = (request.numbers() for _ in range(4))
        values = [self._argument(request, queue.place) for _ in range(request.number())]
        kernel = program.kernel(queue.place, name)
        waits = [self._objects[one] for one in before if one in self._objects]
        on, group = queue.for_launch(), tuple(group_size) or None
        place: dict[str, Any] = {"global_offset": tuple(offset) or None}
        try:
            if not kernel.interface.ndrange and 1 < math.prod(size) <= MOST_REPEATS:
                # all work-items do the same, as it asks for no id: they run one after the other
                for _ in range(math.prod(size) - 1):
                    waits = [kernel(on, (1,), None, *values, wait_for=waits)]
                size, group, place = [1], None, {}
            event = kernel(on, tuple(size), group, *values, **place, wait_for=waits)
        except cl.RuntimeError as error:  # it ran, and failed
            _write_failure(writer, error)
        else:
            event.command_type = kind
            self._objects[number] = event
            _write_state(writer, event)
            # what it prints comes before what the host prints after the call, so such launches are sent at once
            writer.number(int(isinstance(event, PendingEvent) and event.over and not kernel.prints))
        finally:
            sys.stdout.flush()

    def _launches(self, request: Reader, writer: Writer) -> None:
        """Launches in one message: an answer for each, as if it came alone."""
        for _ in range(request.number()):
            answer = Writer()
            try:
                self._launch(Reader(request.blob()).named("launch"), answer)
                data = Writer().number(0).data() + answer.data()
            except Exception as error:  # noqa: BLE001 - whatever it is, the host waits for an answer
                data = refusal(error)
            writer.blob(data)

    def _argument(self, request: Reader, place: int) -> Any:
        kind = request.number()
        if kind == BUFFER:
            buffer, offset = self._on(request.number(), place), request.number()
            return buffer.get_sub_region(offset, buffer.size - offset) if offset else buffer
        if kind == LOCAL:
            return cl.LocalMemory(request.number())
        return request.blob() if kind == SCALAR else None

    def _wait(self, request: Reader, writer: Writer) -> None:
        """Let the first event end, or before it another one, on which it may depend through the host."""
        events = [self._find(PendingEvent, number) for number in request.numbers()]
        chosen = 0
        if not events[0].over and events[0].needs_others:
            able = [k for k, one in enumerate(events) if k and (one.over or not one.needs_others)]
            chosen = able[0] if able else 0
        events[chosen].complete()
        sys.stdout.flush()
        writer.number(chosen)
        _write_state(writer, events[chosen])

    def _look(self, request: Reader, writer: Writer) -> None:
        event = self._find(PendingEvent, request.number())
        _ = event.command_execution_status  # lets time pass
        sys.stdout.flush()
        _write_state(writer, event)

    def _bye(self, request: Reader, writer: Writer) -> None:
        """The host ends: commands that nobody waited for are run, and what the environment asks for is written."""
        try:
            finish_all()
        except cl.Error as error:
            print(f"sluice: a launch that nobody waited for: {error}", file=sys.stderr)
        finish_waveforms()
        with contextlib.suppress(SystemExit):  # it has said why
            write_files([request.text()])
        sys.stdout.flush()
        sys.stderr.flush()


def _devices() -> list[cl.Device]:
    """The devices of the host: the board that $SLUICE_BOARD names, or all of them; the vendors' variables for emulation
    choose the emulator."""
    count = _emulated_devices()
    if count and not os.environ.get("SLUICE_DEVICE"):
        os.environ["SLUICE_DEVICE"] = "emulator"
        first = cl.get_platforms()[0].get_devices()[0]
        return [cl.Device(first.board, "emulator") for _ in range(count)]
    if os.environ.get("XCL_EMULATION_MODE") == "sw_emu" and not os.environ.get("SLUICE_DEVICE"):
        os.environ["SLUICE_DEVICE"] = "emulator"
    devices = cl.get_platforms()[0].get_devices()
    return devices[:1] if os.environ.get("SLUICE_BOARD") else devices  # hosts that use all load one binary into all


def _emulated_devices() -> int:
    """How many devices the vendors' variables ask for, 0 for no emulation. Raises cl.LogicError for other values."""
    for name in EMULATORS:
        if not (text := os.environ.get(name)):
            continue
        if not text.isdecimal() or len(text) > 4 or int(text) > MOST_EMULATED:
            what = f"{name} is the number of emulated devices, 0 to {MOST_EMULATED}, not {text!r}: set it to 1 or none"
            raise cl.LogicError("clGetDeviceIDs", cl.status_code.DEVICE_NOT_FOUND, what)
        return int(text)
    return 0


# ---- parts of answers


def _write_times(writer: Writer, event: Event) -> None:
    profile = event.profile
    writer.numbers((profile.queued, profile.submit, profile.start, profile.end))


def _write_failure(writer: Writer, error: Exception) -> None:
    code = getattr(error, "code", cl.status_code.OUT_OF_RESOURCES)
    writer.number(1).number(code).text(str(error)).numbers((0, 0, 0, 0))


def _write_state(writer: Writer, event: Event) -> None:
    """Whether a launch has ended, and how."""
    if isinstance(event, PendingEvent) and not event.over:
        writer.number(0)
    elif isinstance(event, PendingEvent) and event.failed:
        event.told = True
        _write_failure(writer, event.error)
    else:
        writer.number(1).number(0).text("")
        _write_times(writer, event)


def _answer_to_build(program: Program, places: Sequence[int], options: str) -> tuple[bool, bytes]:
    """Whether all builds went well, and the answer to the host."""
    writer, builds = Writer(), [program.build(place, options) for place in places]
    _write_builds(writer, builds)
    _write_kernels(writer, program)
    return all(one.program is not None for one in builds), writer.data()


def _write_builds(writer: Writer, builds: Sequence[Built]) -> None:
    for built in builds:
        asked = cl.program_build_info.GLOBAL_VARIABLE_TOTAL_SIZE
        variables = 0 if built.program is None else built.program.get_build_info(None, asked)
        writer.number(built.code).number(built.kind).text(built.log).blob(built.binary).number(variables)


def _write_kernels(writer: Writer, program: Program) -> None:
    """The kernels of the first device for which the program was built, with the facts of each device."""
    programs = {place: built.program for place, built in program.built.items() if built.program is not None}
    kernels = next(iter(programs.values())).all_kernels() if programs else []
    writer.number(len(kernels))
    for kernel in kernels:
        writer.text(kernel.function_name).text(kernel.attributes)
        writer.number(kernel.num_args)
        for index, argument in enumerate(kernel.interface.given):
            _write_parameter(writer, kernel, index, argument)
        writer.number(len(programs))
        for place in programs:
            _write_group(writer, place, program.kernel(place, kernel.function_name))


def _write_parameter(writer: Writer, kernel: cl.Kernel, index: int, argument: ArgumentInterface) -> None:
    writer.number(PARAMETERS[argument.kind]).number(argument.bytes).number(argument.alignment)
    writer.number(-1 if argument.limit is None else argument.limit).number(kernel.writes(index))
    for query in (arg.ADDRESS_QUALIFIER, arg.ACCESS_QUALIFIER, arg.TYPE_QUALIFIER):
        writer.number(kernel.get_arg_info(index, query))
    writer.text(argument.name).text(kernel.get_arg_info(index, arg.TYPE_NAME))


def _write_group(writer: Writer, place: int, kernel: cl.Kernel) -> None:
    device = kernel.context.device
    facts: Callable[[int], Any] = lambda query: kernel.get_work_group_info(query, device)
    told = facts(group.WORK_GROUP_SIZE)
    room = told if kernel.interface.work_group_size else kernel.interface.most_work_items or MOST_WORK_ITEMS
    writer.number(place).number(told).number(room).number(facts(group.PREFERRED_WORK_GROUP_SIZE_MULTIPLE))
    writer.number(facts(group.LOCAL_MEM_SIZE)).number(facts(group.PRIVATE_MEM_SIZE))
    writer.number(int(kernel.interface.ndrange)).numbers(facts(group.COMPILE_WORK_GROUP_SIZE))
