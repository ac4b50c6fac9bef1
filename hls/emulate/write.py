"""A module of IR as one C++ text: the runtime, a function for each helper and kernel, and the table of kernels."""

from importlib.resources import files

from ..diag import CompileError
from ..ir import Function, Module, walk
from .function import FunctionWriter
from .memory import Storage
from .program import Argument, KernelText, MemoryName, ProgramText, Site
from .types import c_type

__all__ = ["write_program"]

#: Room on a kernel's stack besides its arrays: what the runtime and the compiler's own spills need.
SPARE_STACK = 1 << 18
#: A compiler may keep the value of every operation on the stack; each is counted with as many bytes.
OPERATION_BYTES = 64
#: Helpers whose arrays take more are never inlined, so that copies of them do not add up.
INLINE_ARRAYS = 4096


def write_program(module: Module) -> ProgramText:
    """The text for every kernel of the module, at any stage of the compiler's pipeline.

    Raises CompileError for recursion.
    """
    return _Program(module).write()


class _Program:
    """What the functions of one text share: numbers of sites and memories, and the lines so far."""

    def __init__(self, module: Module):
        self.module = module
        self.sites: list[Site] = []
        self.memories: list[MemoryName] = [MemoryName("", "nothing", 0)]
        self.storage = {name: Storage(f) for name, f in module.functions.items()}
        self.stacks: dict[str, int] = {}

    def write(self) -> ProgramText:
        kernels = self.module.kernels
        stacks = [self._stack(f, ()) for f in kernels]
        helpers = [f for f in self.module.functions.values() if f.kind != "kernel" and f.name in self.stacks]
        lines = [line for f in helpers for line in self._prototype(f)]
        for f in [*helpers, *kernels]:
            lines += self._function(f)
        rows = "".join(f"    {{kernel_{f.name}, {stack}}},\n" for f, stack in zip(kernels, stacks))
        lines.append(f"const Kernel kernels[] = {{\n{rows}}};")
        text = files(__package__).joinpath("runtime.h").read_text() + "\n" + "\n".join(lines) + "\n"
        return ProgramText(text, tuple(map(_kernel, kernels)), tuple(self.sites), tuple(self.memories))

    def site(self, function: Function, span) -> int:
        """The number of a place in the source."""
        self.sites.append(Site(function.name, span))
        return len(self.sites) - 1

    def memory(self, name: str, kind: str, element_bytes: int) -> int:
        """The number of a memory object."""
        self.memories.append(MemoryName(name, kind, element_bytes))
        return len(self.memories) - 1

    def arguments(self, function: Function) -> list[Argument]:
        """Where a kernel finds what it is given."""
        return arguments(function)

    def signature(self, f: Function) -> str:
        """A helper's head."""
        args = ["const Item &item", *(f"{c_type(v.type)} a{k}" for k, v in enumerate(f.args))]
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
        """The bytes that one call may need, with everything it calls."""
        if f.name not in self.stacks:
            operations = list(walk(f.body))
            inlined, called = 0, 0
            for op in operations:
                if op.opcode != "call":
                    continue
                callee = self.module.functions[op.attrs["callee"]]
                if callee.name in (*callers, f.name):
                    raise CompileError.at(op.span, f"{callee.name} calls itself", "OpenCL C has no recursion: write a loop")
                size = self._stack(callee, (*callers, f.name))
                inlined, called = (inlined, max(called, size)) if self._never_inlined(callee) else (inlined + size, called)
            own = self.storage[f.name].bytes + OPERATION_BYTES * len(operations)
            self.stacks[f.name] = own + inlined + called
        spare = 0 if callers else SPARE_STACK
        return -(-(self.stacks[f.name] + spare) // 4096) * 4096


def result_type(f: Function) -> str:
    """The C++ type of what a helper returns."""
    returned = f.body.terminator.operands
    if len(returned) > 1:
        return f"results_{f.name}"
    return c_type(returned[0].type) if returned else "void"


def arguments(f: Function) -> list[Argument]:
    """The values that a kernel is given, in order."""
    names = [p.name for p in f.params if p.kind == "scalar"] + list(f.attrs.get("launch_args", ()))
    found: list[Argument] = []
    for name, value in zip(names, f.args, strict=True):
        found.append(Argument(name, value.type, found[-1].end if found else 0))
    return found


def _kernel(f: Function) -> KernelText:
    buffers = tuple(m.name for m in f.memories.values() if m.space == "global")
    found, hidden = arguments(f), len(f.attrs.get("launch_args", ()))
    first = len(found) - hidden
    return KernelText(f.name, buffers, tuple(found[:first]), tuple(found[first:]))
