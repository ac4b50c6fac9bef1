"""Programs and kernels: building, arguments, launching."""

import shlex
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hls.diag import CompileError
from hls.ir import Attr, Function, reachable, walk
from hls.narrow import instance, present
from hls.rtl.interface import ArgumentInterface, KernelInterface
from sim.errors import BuildError, SimulationError, ToolMissing
from sim.loaded import LoadedSystem
from sim.steps import Steps

from . import compiler, emulated
from .argument_facts import argument_fact
from .arguments import Value, check_argument, python_scalar, said_type
from .binary import Binary
from .board_runs import BoardRuns
from .constants import command_type, kernel_arg_info, kernel_info, program_info, status_code
from .constants import kernel_arg_type_qualifier as qualifier
from .errors import ArgumentCountError, LogicError, MissingKernelError, RuntimeError
from .event import Event, dependencies
from .facts import fact
from .launch import execute, index_space
from .memory import LocalMemory
from .options import stall_seed, trace_request
from .platform import Context, Device
from .program_builds import BuildFailure, build_fact, build_source, only_binary
from .program_variables import ProgramVariables
from .queue import CommandQueue, enqueue_marker
from .restrict import RestrictCheck
from .streams import Stream
from .timeline import TIMELINE
from .work_group_facts import work_group_fact

if TYPE_CHECKING:
    from .predicted import RunPredictor

__all__ = ["Kernel", "Program", "enqueue_nd_range_kernel", "enqueue_task", "get_profile_data_device_intel"]

#: attributes of pyopencl's Program that are missing, and the alternative; cl.Kernel returns a kernel of such a name
NOT_HERE = {
    "compile": "call build(), which compiles and links",
    "link": "call build(), which compiles and links",
    "from_int_ptr": "objects are Python's and have no address",
    "int_ptr": "objects are Python's and have no address",
    "set_specialization_constant": "programs are made from OpenCL C",
}


class _KernelFirst:
    """A method that pyopencl's Program does not have: a kernel of its name comes first, as ``program.NAME`` is a kernel
    there; the method is then called as ``Program.NAME(program, ...)``."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __get__(self, program: "Program | None", owner: type) -> Any:
        if program is None:
            return self._method
        name = self._method.__name__
        return Kernel(program, name) if name in program._launchable() else self._method.__get__(program)


class Program:
    """OpenCL C source for a context's board; ``build`` compiles it. ``Program(context, devices, binaries)`` accepts the
    :attr:`binaries` of a program of this run or an earlier one: ``build`` then uses its options as well."""

    reference_count = 1

    def __init__(self, context: Context, source: Any, binaries: Sequence[Any] | None = None) -> None:
        binary = None if binaries is None else only_binary(context, source, binaries)
        source = source if binary is None else binary.source
        if not isinstance(source, str):
            raise LogicError(
                "Program",
                status_code.INVALID_VALUE,
                "a program is made from OpenCL C source text, or from devices and binaries",
            )
        self.context, self.source = context, source
        self._options: tuple[str, ...] = () if binary is None else binary.options
        self._result: compiler.Compiled | emulated.Emulated | None = None
        self._emulated = context.device.kind != "board"
        self._log = ""
        self._loaded: LoadedSystem | None = None
        self._launches = BoardRuns(self)  #: on the simulated board
        self._variables: ProgramVariables | None = None  #: made with the first launch of a kernel that uses one
        #: predicts its launches on the simulated board; None if nobody asks for that
        self._predictor: RunPredictor | None = None

    def build(
        self,
        options: str | Iterable[str] = (),
        devices: Any = None,
        cache_dir: str | None = None,
        *,
        device: str | None = None,
    ) -> "Program":
        """Compile; returns the program itself. ``device="emulator"`` runs its kernels without RTL, ``device="model"``
        also predicts their cycles.

        Raises cl.RuntimeError with the compiler's messages.
        """
        words = (*self._options, *(shlex.split(options) if isinstance(options, str) else map(str, options)))
        kind = device or self.context.device.kind
        try:
            result, predictor, log = build_source(self.source, self.context.device, kind, words)
        except BuildFailure as failure:
            self._log = str(failure)
            raise RuntimeError(
                "clBuildProgram", status_code.BUILD_PROGRAM_FAILURE, "\n" + self._log
            ) from failure.__cause__
        self._log = log
        self._replace(result, kind != "board")
        self._predictor = predictor
        TIMELINE.command("build")
        self._built_with = words
        return self

    @_KernelFirst
    def capture(self) -> list[dict[str, Any]]:
        """What each autorun kernel did since the last capture, or since the program's simulator was started: figures
        as those of ``event.stats``, with ``start_ns`` and ``end_ns``. Kernels under way are not waited for. Empty on
        the emulator, which has no cycles."""
        if self._result is None:
            raise LogicError("Program.capture", status_code.INVALID_PROGRAM_EXECUTABLE, "build the program first")
        if self._emulated:
            return []
        with self.context.simulated.guard:
            return self._launches.capture()

    def _replace(self, result: compiler.Compiled | emulated.Emulated, native: bool) -> None:
        """Install the result of a build. Launches of the previous build end first; their failures stay with their
        events."""
        if self._result is None:
            self._result, self._emulated = result, native
            return
        with self.context.simulated.guard:
            self._launches.finish()
            if self._loaded is not None:
                self._loaded.close()
            self._result, self._emulated, self._loaded, self._launches = result, native, None, BoardRuns(self)
            self._variables = None
            self.__dict__.pop("_restrict", None)

    @property
    def _native(self) -> emulated.Emulated:
        """The result of a build for the emulator."""
        return instance(self._result, emulated.Emulated)

    @property
    def _compiled(self) -> compiler.Compiled:
        """The result of a build for the simulated board."""
        if self._result is None or isinstance(self._result, emulated.Emulated):
            raise TypeError(f"{self._result!r} is not compiled for a board")
        return self._result

    @property
    def _system(self) -> LoadedSystem:
        """The simulator of this program; built at the first launch."""
        if self._loaded is None:
            self.context.simulated.guard.check()
            self._built()
            result = self._compiled
            simulated = self.context.simulated
            self._loaded = LoadedSystem(
                compiler.verilog_of(result),
                result.interface,
                simulated.facts,
                simulated.memory,
                stall_seed(),
                trace_request(self.source),
                Steps(),
                intervals=TIMELINE.intervals,
                link=self.context.device.link,
                digest=compiler.digest_of(result) if self.context.device.link else "",
            )
            weakref.finalize(self, self._loaded.close)
        return self._loaded

    @cached_property
    def _restrict(self) -> RestrictCheck:
        """The check of the program's restrict arguments."""
        return RestrictCheck(self._built().module)

    @_KernelFirst
    def stream(self, name: str) -> Stream:
        """The board's stream of that name, to which one of the program's I/O channels is bound."""
        streams = {one.name: one for one in self._built().interface.streams}
        if name not in streams:
            known = f"it has {', '.join(streams)}" if streams else "it has none"
            raise LogicError(
                "Program.stream",
                status_code.INVALID_VALUE,
                f"the program uses no stream {name!r} of the board; {known}",
            )
        return Stream(self, streams[name])

    @property
    def kernel_names(self) -> str:
        """Names of the kernels, separated by semicolons."""
        self._built()
        return ";".join(self._launchable())

    def _launchable(self) -> list[str]:
        """Names of the kernels that a host can launch; none before the program is built."""
        return [] if self._result is None else [one.name for one in self._result.interface.kernels if not one.autorun]

    def all_kernels(self) -> list["Kernel"]:
        """A kernel object for each kernel."""
        self._built()
        return [Kernel(self, name) for name in self._launchable()]

    @property
    def num_kernels(self) -> int:
        """The number of kernels that a host can launch: those that are not autorun. Raises an error before the
        program is built."""
        return len(self.all_kernels())

    @property
    def num_devices(self) -> int:
        """The number of devices of the context: always 1."""
        return len(self.devices)

    @property
    def devices(self) -> list[Device]:
        """The context's."""
        return self.context.devices

    @property
    def binaries(self) -> list[bytes]:
        """The program in serialized form: see :mod:`sim.cl.binary`. One for the context's device."""
        self._built()
        return [Binary(self.source, self._built_with).to_bytes()]

    @property
    def binary_sizes(self) -> list[int]:
        """Sizes of :attr:`binaries`."""
        return [len(binary) for binary in self.binaries]

    def get_info(self, parameter: int) -> Any:
        """The value of an OpenCL query. Raises cl.LogicError for an unknown one, and for the names of kernels before
        build()."""
        return fact(self, program_info, parameter, "Program.get_info")

    def get_build_info(self, device: Any, parameter: int) -> Any:
        """The build's log, by OpenCL's number."""
        return build_fact(self._result, self._log, self._built_with, parameter)

    def __getattr__(self, name: str) -> "Kernel":
        if name.startswith("_"):
            raise AttributeError(f"a program has no attribute {name!r}")
        if name in NOT_HERE:
            raise AttributeError(f"cl.Program.{name} is not there: {NOT_HERE[name]}")
        if self.__dict__.get("_result") is None:
            raise MissingKernelError(
                "clCreateKernel",
                status_code.INVALID_PROGRAM_EXECUTABLE,
                f"{name!r} is no attribute, and the program has no kernels before build()",
            )
        try:
            return Kernel(self, name)
        except LogicError as error:
            raise MissingKernelError(error.routine, error.code, error.what) from None

    def _hidden_values(self, kernel: KernelInterface) -> list[Value]:
        """The arguments of a launch behind those of the source: the program's variables that the kernel uses."""
        if self._variables is None:
            self._variables = ProgramVariables(self.context, self._built().interface.kernels)
        return self._variables.values(kernel)

    def _built(self) -> compiler.Compiled | emulated.Emulated:
        if self._result is None:
            raise LogicError(
                "Program", status_code.INVALID_PROGRAM_EXECUTABLE, "the program is not built; call build()"
            )
        return self._result


class Kernel:
    """One kernel of a built program, with the arguments set so far."""

    reference_count = 1

    def __init__(self, program: Program, name: str) -> None:
        kernels = {kernel.name: kernel for kernel in program._built().interface.kernels}
        if name in kernels and kernels[name].autorun:
            raise LogicError(
                "clCreateKernel",
                status_code.INVALID_KERNEL_NAME,
                f"kernel {name!r} has the attribute autorun: it runs by itself and cannot be launched",
            )
        if name not in kernels:
            what = f"no kernel {name!r}; the program has {', '.join(kernels) or 'none'}"
            raise LogicError("clCreateKernel", status_code.INVALID_KERNEL_NAME, what)
        self.program = program
        self.interface: KernelInterface = kernels[name]
        self.function_name = name
        self.num_args = len(self.interface.given)
        self._values: list[Value | None] = [None] * self.num_args
        self._dtypes: list[np.dtype | None] = [None] * self.num_args
        self._lock = threading.RLock()

    def writes(self, index: int) -> bool:
        """Whether the kernel writes to the buffer that is this argument, or may do so: of a program for the emulator
        that is too large to be looked at as a whole, the type says that."""
        argument = self.interface.arguments[index]
        try:
            return argument.kind == "buffer" and argument.name in self.program._restrict.written(self.function_name)
        except CompileError:
            return not self.get_arg_info(index, kernel_arg_info.TYPE_QUALIFIER) & qualifier.CONST

    @property
    def context(self) -> Context:
        """The context of the kernel's program."""
        return self.program.context

    @property
    def attributes(self) -> str:
        """The attributes of the source for its work-groups, as OpenCL writes them, separated by blanks."""
        size = self.interface.work_group_size
        required = (f"reqd_work_group_size({','.join(map(str, size))})",) if size else ()
        return " ".join((*required, *self._function.attrs.get(Attr.HINTS, ())))

    def set_scalar_arg_dtypes(self, dtypes: Sequence[Any]) -> None:
        """Set the type of each scalar argument, None for buffers: then Python numbers are accepted."""
        if len(dtypes) != self.num_args:
            raise ArgumentCountError(
                "Kernel.set_scalar_arg_dtypes", status_code.INVALID_KERNEL_ARGS, self._count(len(dtypes))
            )
        self._dtypes = [said_type(dtype) for dtype in dtypes]

    set_arg_types = set_scalar_arg_dtypes

    def set_arg(self, index: int, value: Any) -> None:
        """Set one argument: a buffer, or a numpy scalar of the parameter's type."""
        self._argument("clSetKernelArg", index)
        value = python_scalar(value, self._dtypes[index])
        self._values[index] = check_argument(self.interface, index, value, self.context)

    def set_args(self, *values: Any) -> None:
        """Set all arguments."""
        if len(values) != self.num_args:
            raise ArgumentCountError("Kernel.set_args", status_code.INVALID_KERNEL_ARGS, self._count(len(values)))
        for index, value in enumerate(values):
            self.set_arg(index, value)

    def get_info(self, parameter: int) -> Any:
        """The value of an OpenCL query. Raises cl.LogicError for an unknown one."""
        return fact(self, kernel_info, parameter, "Kernel.get_info")

    def get_arg_info(self, index: int, parameter: int) -> Any:
        """The value of an OpenCL query on one argument."""
        return argument_fact(self._argument("clGetKernelArgInfo", index), self._function.memories, parameter)

    @cached_property
    def prints(self) -> bool:
        """Whether the kernel, or a function that it calls, has a printf."""
        functions = reachable(self.program._built().module, self._function)
        return any(op.opcode == "printf" for function in functions for op in walk(function.body))

    @property
    def _function(self) -> Function:
        return self.program._built().module.functions[self.function_name]

    def _argument(self, routine: str, index: int) -> ArgumentInterface:
        if not isinstance(index, (int, np.integer)) or not 0 <= index < self.num_args:
            raise LogicError(
                routine,
                status_code.INVALID_ARG_INDEX,
                f"kernel {self.function_name} has no argument {index}; it has {self.num_args}",
            )
        return self.interface.arguments[index]

    def get_work_group_info(self, parameter: int, device: Device) -> Any:
        """The value of an OpenCL query on work-groups, for a host that chooses their size."""
        return work_group_fact(
            self.interface,
            reachable(self.program._built().module, self._function),
            [v.value.size for v in self._values if v and isinstance(v.value, LocalMemory)],
            device,
            parameter,
        )

    def __call__(
        self,
        queue: CommandQueue,
        global_size: Sequence[int],
        local_size: Sequence[int] | None,
        *args: Any,
        global_offset: Sequence[int] | None = None,
        wait_for: list[Event] | None = None,
        g_times_l: bool = False,
        allow_empty_ndrange: bool = False,
    ) -> Event:
        """Set all arguments and launch."""
        self.context.simulated.guard.check()
        with self._lock:  # another thread may call the same object, with other arguments
            self.set_args(*args)
            values = tuple(self._values)
        return _launch(
            queue, self, values, global_size, local_size, global_offset, wait_for, g_times_l, allow_empty_ndrange
        )

    def _count(self, given: int) -> str:
        wanted = ", ".join(f"{argument.c_type} {argument.name}" for argument in self.interface.given)
        return f"kernel {self.function_name} takes {self.num_args} arguments ({wanted}), not {given}"


def enqueue_nd_range_kernel(
    queue: CommandQueue,
    kernel: Kernel,
    global_work_size: Sequence[int],
    local_work_size: Sequence[int] | None,
    global_work_offset: Sequence[int] | None = None,
    wait_for: list[Event] | None = None,
    g_times_l: bool = False,
    allow_empty_ndrange: bool = False,
) -> Event:
    """Queue the kernel over its index space; the event has the run's statistics once it has ended.

    Raises cl.LogicError for invalid sizes or arguments, cl.RuntimeError when the simulator cannot be built. The failure
    of a run is raised by ``event.wait()``, ``event.stats``, ``queue.finish()``, and by the next copy of the queue;
    on the emulator here, where it runs at once.
    """
    return _launch(
        queue,
        kernel,
        tuple(kernel._values),
        global_work_size,
        local_work_size,
        global_work_offset,
        wait_for,
        g_times_l,
        allow_empty_ndrange,
    )


def _launch(
    queue: CommandQueue,
    kernel: Kernel,
    values: tuple[Value | None, ...],
    global_work_size: Sequence[int],
    local_work_size: Sequence[int] | None,
    global_work_offset: Sequence[int] | None,
    wait_for: list[Event] | None,
    g_times_l: bool,
    allow_empty_ndrange: bool,
) -> Event:
    if queue.context is not kernel.context:
        raise LogicError("clEnqueueNDRangeKernel", status_code.INVALID_CONTEXT, "queue and kernel differ in context")
    missing = [argument.name for argument, value in zip(kernel.interface.given, values) if value is None]
    if missing:
        what = f"kernel {kernel.function_name}: not set: {', '.join(missing)}"
        raise LogicError("clEnqueueNDRangeKernel", status_code.INVALID_KERNEL_ARGS, what)
    if allow_empty_ndrange and 0 in global_work_size:
        return enqueue_marker(queue, wait_for)
    space = index_space(kernel.interface, global_work_size, local_work_size, global_work_offset, g_times_l)
    after = dependencies(queue.context.simulated.schedule, wait_for)
    try:
        with queue.context.simulated.guard:
            given = [*map(present, values), *kernel.program._hidden_values(kernel.interface)]
            return execute(kernel.program, queue, kernel.interface, given, space, after)
    except ToolMissing as error:
        raise RuntimeError("clEnqueueNDRangeKernel", status_code.DEVICE_NOT_AVAILABLE, str(error)) from error
    except (BuildError, SimulationError) as error:
        raise RuntimeError("clEnqueueNDRangeKernel", status_code.OUT_OF_RESOURCES, str(error)) from error


def enqueue_task(queue: CommandQueue, kernel: Kernel, wait_for: list[Event] | None = None) -> Event:
    """Run the kernel with one work-item."""
    event = enqueue_nd_range_kernel(queue, kernel, (1,), (1,), wait_for=wait_for)
    event.command_type = command_type.TASK
    return event


def get_profile_data_device_intel(
    device: Device,
    program: Program,
    read_enqueue_kernels: bool = True,
    read_autorun_kernels: bool = True,
    clear_counters_after_readback: bool = False,
) -> list[dict[str, Any]]:
    """The vendor's call for a capture: :meth:`Program.capture`, if the counters of autorun kernels are to be read.

    The other two arguments change nothing: kernels that the host starts are captured at the end of each launch, and a
    capture is a difference, so nothing is cleared.
    """
    if device is not program.context.device:
        what = "the device is none of the program's context"
        raise LogicError("clGetProfileDataDeviceIntelFPGA", status_code.INVALID_DEVICE, what)
    return Program.capture(program) if read_autorun_kernels else []
