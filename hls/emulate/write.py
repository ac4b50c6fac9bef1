"""A module of IR as one C++ text: the runtime, a function for each helper and kernel, and the table of kernels."""

from importlib.resources import files

from ..diag import Code, CompileError
from ..ir import Attr, Function, MemoryObject, Module, PointerType, walk
from ..ir.barriers import decisions
from ..ir.concurrent import channel_room, waiting_functions
from ..ir.model_function import callee_of, with_models
from ..ir.printing import Format
from ..recursion import deep_recursion
from .function import FunctionWriter
from .memory import POINTER_BYTES, Storage
from .observe import Memories, NotObserved, Observer
from .program import Argument, KernelText, MemoryName, ProgramText, Site
from .promises import Promises
from .types import c_type

__all__ = ["write_program"]

#: Bytes of a kernel's stack in addition to its arrays: for the runtime and the C++ compiler's own spills.
SPARE_STACK = 1 << 18
#: Stack bytes counted for each operation, as a compiler may keep the value of every operation on the stack.
OPERATION_BYTES = 64
#: Helpers with larger arrays are never inlined, so that copies of them do not add up.
INLINE_ARRAYS = 4096


def write_program(module: Module, observe: Memories | NotObserved | None = None) -> ProgramText:
    """The text for every kernel of the module, at any stage of the compiler's pipeline. With ``observe`` it counts what
    a launch does (``observe.h``); the loops around an access in a helper function are then those of the helper. Other
    hooks may be given instead (:class:`~.trace.Tracer`).

    Raises CompileError for recursion.
    """
    with deep_recursion():
        hooks = Observer(observe) if isinstance(observe, Memories) else observe or NotObserved()
        return _Program(with_models(module), hooks).write()


class _Program:
    """State shared by the functions of one text: numbers of sites and memories, and the lines so far."""

    def __init__(self, module: Module, observer: NotObserved) -> None:
        self.module, self.observer = module, observer
        self.sites: list[Site] = []
        self.memories: list[MemoryName] = [MemoryName("", "nothing", 0)]
        self.storage = {name: Storage(f) for name, f in module.functions.items()}
        self.stacks: dict[str, int] = {}
        self.formats: list[Format] = []
        self.queues: list[tuple[str, int]] = []  #: name and capacity
        self.channels = {name: self._channel(c) for name, c in module.channels.items()}
        self.local_bytes = 0
        self.promises = Promises(module.functions, observer.checks_promises)
        self.deciding = decisions(module.functions)
        self.waiting = waiting_functions(module.functions.values(), _callees, walk)

    def write(self) -> ProgramText:
        kernels = self.module.kernels
        stacks = [self._stack(f, ()) for f in kernels]
        helpers = [f for f in self.module.functions.values() if f.kind != "kernel" and f.name in self.stacks]
        lines = [line for f in helpers for line in self._prototype(f)]
        for f in [*helpers, *kernels]:
            lines += self._function(f)
        lines += self._tables(kernels, stacks)
        lines += self.observer.tail([m.kind == "argument" for m in self.memories])
        headers = (
            "runtime.h",
            "promises.h",
            *self.observer.headers,
            "concurrent.h",
            "groups.h",
            *self.observer.late_headers,
            "rounds.h",
        )
        runtime = [files(__package__).joinpath(name).read_text() for name in headers]
        return ProgramText(
            "\n".join([*self.observer.head(), *runtime, ""]),
            "\n".join([*lines, ""]),
            tuple(map(_kernel, kernels)),
            tuple(self.sites),
            tuple(self.memories),
            tuple(self.formats),
            tuple(name for name, _ in self.queues),
            self.observer.tables,
        )

    def _tables(self, kernels: list[Function], stacks: list[int]) -> list[str]:
        """The tables of kernels, local memory and channels for the runtime."""
        rows = []
        for f, stack in zip(kernels, stacks):
            waits, site, count = f.name in self.waiting, self.site(f, f.span), len(_local_arguments(f))
            entries = f"0, item_{f.name}" if waits else f"all_{f.name}, 0"
            rows.append(f"    {{{entries}, {stack}, {int(waits)}, {site}, {count}}},")
        rooms = ", ".join(f"{{0, {room}}}" for _, room in self.queues)
        return [
            "const Kernel kernels[] = {",
            *rows,
            "};",
            f"const u64 static_local_bytes = {self.local_bytes};",
            f"Queue queues[{max(1, len(self.queues))}] = {{{rooms}}};",
        ]

    def _channel(self, declared: MemoryObject) -> str:
        """The text of a channel, or of an array of channels."""
        # the board's side of a stream has unlimited capacity
        count, room = declared.length or 1, 0 if Attr.IO in dict(declared.attrs) else channel_room(declared)
        first = len(self.queues)
        for k in range(count):
            name = declared.name if count == 1 else f"{declared.name}[{k}]"
            self.queues.append((name, room))
        return f"Channel{{{first}, {count}}}"

    def local(self, memory: MemoryObject) -> int:
        """The offset of a local memory among those whose size is known."""
        place = self.local_bytes
        per_element = POINTER_BYTES if isinstance(memory.element, PointerType) else memory.element.bytes
        self.local_bytes += -(-memory.elements * per_element // 16) * 16
        return place

    def format(self, text: str, types) -> int:
        """The number of a printf format."""
        self.formats.append(Format(text, tuple(types)))
        return len(self.formats) - 1

    def site(self, function: Function, span) -> int:
        """The number of a source location."""
        self.sites.append(Site(function.name, span))
        return len(self.sites) - 1

    def memory(self, name: str, kind: str, element_bytes: int) -> int:
        """The number of a memory object."""
        self.memories.append(MemoryName(name, kind, element_bytes))
        return len(self.memories) - 1

    def arguments(self, function: Function) -> list[Argument]:
        """The layout of a kernel's arguments."""
        return arguments(function)

    def signature(self, f: Function) -> str:
        """The signature of a helper."""
        args = ["Item &item", *(f"{c_type(v.type)} a{k}" for k, v in enumerate(f.args))]
        never = "__attribute__((noinline)) " if self._never_inlined(f) else ""
        return f"static {never}{result_type(f)} helper_{f.name}({', '.join(args)})"

    def _never_inlined(self, f: Function) -> bool:
        return self.storage[f.name].bytes > INLINE_ARRAYS

    def _prototype(self, f: Function) -> list[str]:
        returned = f.body.terminator.operands
        fields = "".join(f" {c_type(v.type)} r{k};" for k, v in enumerate(returned))
        struct = [f"struct results_{f.name} {{{fields} }};"] if len(returned) > 1 else []
        return [*struct, self.signature(f) + ";"]

    def _function(self, f: Function) -> list[str]:
        return FunctionWriter(f, self.storage[f.name], self).write()

    def _stack(self, f: Function, callers: tuple[str, ...]) -> int:
        """The stack bytes that one call may need, including everything it calls."""
        if f.name not in self.stacks:
            operations = list(walk(f.body))
            inlined, called = 0, 0
            for op in operations:
                name = callee_of(op)
                if name is None:
                    continue
                callee = self.module.functions[name]
                if callee.name in (*callers, f.name):
                    raise CompileError.at(
                        op.span,
                        f"{callee.name} calls itself",
                        "OpenCL C has no recursion: write a loop",
                        code=Code.RECURSION,
                    )
                size = self._stack(callee, (*callers, f.name))
                inlined, called = (
                    (inlined, max(called, size)) if self._never_inlined(callee) else (inlined + size, called)
                )
            own = self.storage[f.name].bytes + OPERATION_BYTES * len(operations)
            self.stacks[f.name] = own + inlined + called
        spare = 0 if callers else SPARE_STACK
        return -(-(self.stacks[f.name] + spare) // 4096) * 4096


def result_type(f: Function) -> str:
    """The C++ type of a helper's result."""
    returned = f.body.terminator.operands
    if len(returned) > 1:
        return f"results_{f.name}"
    return c_type(returned[0].type) if returned else "void"


def _callees(f: Function) -> set[str]:
    return {name for name in map(callee_of, walk(f.body)) if name is not None}


def _local_arguments(f: Function) -> tuple[str, ...]:
    return tuple(m.name for m in f.memories.values() if m.space == "local" and m.length is None)


def arguments(f: Function) -> list[Argument]:
    """The arguments of a kernel, in order."""
    names = [p.name for p in f.params if p.kind == "scalar"] + list(f.attrs.get(Attr.LAUNCH_ARGS, ()))
    found: list[Argument] = []
    for name, value in zip(names, f.args, strict=True):
        found.append(Argument(name, value.type, found[-1].end if found else 0))
    return found


def _kernel(f: Function) -> KernelText:
    buffers = tuple(m.name for m in f.memories.values() if m.space == "global")
    found, hidden = arguments(f), len(f.attrs.get(Attr.LAUNCH_ARGS, ()))
    first = len(found) - hidden
    flat = Attr.LAUNCH_ARGS in f.attrs
    promise = next((one for one in (Attr.SILENT_STORES, Attr.INDEPENDENT) if one in f.attrs), "")
    launch_args = tuple(found[first:])
    return KernelText(f.name, buffers, tuple(found[:first]), launch_args, _local_arguments(f), flat, promise)
