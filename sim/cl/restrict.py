"""Checks the buffers of each launch against ``restrict`` and ``__constant``.

A restrict pointer asserts that data which the kernel writes through it, or reads through it while it is written, is
accessed through no other argument. The compiler reorders accesses on that basis, and hardware only shows other bytes
where it does not hold. Constant memory is not written while a kernel runs: its caches observe no stores. A launch knows
its buffers.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations

from hls.diag import Code, Diagnostic, render
from hls.ir import Attr, Function, MemoryObject, Module, walk
from hls.passes.lowering.inline import Inline
from hls.passes.lowering.points_to import Roots
from hls.recursion import deep_recursion
from hls.rtl.interface import KernelInterface

from .arguments import Value
from .constants import status_code
from .errors import LogicError
from .memory import Buffer

__all__ = ["RestrictCheck"]


class RestrictCheck:
    """Refuses launches that violate the assertion. ``module`` is the program before optimization."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def check(self, kernel: KernelInterface, values: Sequence[Value]) -> None:
        """Raises LogicError naming both arguments if two share bytes, one of them is restrict or __constant, and the
        kernel writes through either."""
        given = [
            (argument.name, value.value)
            for argument, value in zip(kernel.arguments, values, strict=True)
            if isinstance(value.value, Buffer)
        ]
        shared = [pair for pair in combinations(given, 2) if _shared(pair[0][1], pair[1][1])]
        memories = self._module.functions[kernel.name].memories if shared else {}
        for (one, first), (other, second) in shared:
            promised = [memories[name] for name in (one, other) if name in memories and _promise(memories[name])]
            if promised and self._conflict(kernel.name, one, other):
                raise LogicError(
                    "clEnqueueNDRangeKernel",
                    status_code.INVALID_KERNEL_ARGS,
                    "\n"
                    + render(self._message(kernel, one, other, promised, _shared(first, second)), self._module.sources),
                )

    def written(self, kernel: str) -> set[str]:
        """The arguments through which the kernel writes."""
        return {name for name, kinds in self._accessed[kernel].items() if "write" in kinds}

    def _conflict(self, kernel: str, one: str, other: str) -> bool:
        """Whether the kernel accesses both, and writes one of them."""
        used = self._accessed[kernel]
        return bool(used.get(one) and used.get(other) and "write" in used[one] | used[other])

    def _message(
        self, kernel: KernelInterface, one: str, other: str, promised: list[MemoryObject], shared: int
    ) -> Diagnostic:
        used = self._accessed[kernel.name]
        written = " and ".join(f"'{name}'" for name in (one, other) if "write" in used[name])
        words = " and ".join(f"'{memory.name}' is {_promise(memory)}" for memory in promised)
        if len(promised) == 2 and len({_promise(memory) for memory in promised}) == 1:
            words = f"'{promised[0].name}' and '{promised[1].name}' are {_promise(promised[0])}"
        away = dict.fromkeys(_HELPS[_promise(memory)] for memory in promised)
        return Diagnostic(
            f"kernel {kernel.name} is launched with buffers for '{one}' and '{other}' that share {shared:,} bytes, "
            f"and writes through {written}; "
            f"but {words}",
            promised[0].span,
            f"pass buffers that lie apart, or {' and '.join(away)}: then accesses keep their order",
            code=Code.RESTRICT_BROKEN,
        )

    @cached_property
    def _accessed(self) -> dict[str, dict[str, set[str]]]:
        """How each kernel accesses each of its buffers: "read" and "write"."""
        with deep_recursion():
            return {function.name: _accesses(function) for function in Inline().run(self._module).kernels}


#: what to write instead of the qualifier
_HELPS = {"restrict": "remove restrict", "__constant": "declare it __global const"}


def _promise(memory: MemoryObject) -> str:
    """The qualifier by which the program asserts that the memory has no other writer; "" without one."""
    if Attr.CONSTANT_MEMORY in dict(memory.attrs):
        return "__constant"
    return "restrict" if memory.restrict else ""


def _accesses(function: Function) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    roots = Roots(function)
    of_opcode = {"load": {"read"}, "store": {"write"}, "atomic": {"read", "write"}}
    for op in walk(function.body):
        kinds = of_opcode.get(op.opcode, set())
        for name in roots[op.operands[0]] if kinds else ():
            found.setdefault(name, set()).update(kinds)
    return found


def _shared(one: Buffer, other: Buffer) -> int:
    """How many bytes two buffers have in common."""
    return max(0, min(one.address + one.size, other.address + other.size) - max(one.address, other.address))
