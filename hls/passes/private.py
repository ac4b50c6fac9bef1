"""Private memories and tables that did not become values stay as memories of the kernel, if hardware can be made of them."""

from dataclasses import dataclass

from ..diag import CompileError, Diagnostic
from ..ir import Function, MemoryObject, Op, PointerType, Region, uses, walk
from ..ir.clone import clone_function

__all__ = ["OnChipMemories"]


@dataclass(frozen=True)
class OnChipMemories:
    """After: every memory of the kernel's own that is left is an array in block RAM whose accesses are plain.
    Those without loads are dropped with their stores."""

    name = "on-chip-memories"

    def run(self, function: Function) -> Function:
        """Raises CompileError naming every memory that cannot be built."""
        result = clone_function(function)
        onchip = [m for m in result.memories.values() if m.onchip]
        addresses = {m.name: [] for m in onchip}
        for op in walk(result.body):
            if op.opcode == "addr" and op.attrs["mem"] in addresses:
                addresses[op.attrs["mem"]].append(op)
        faults = [fault for m in onchip if addresses[m.name] and (fault := self._fault(m, addresses[m.name][0]))]
        if faults:
            raise CompileError(*faults)
        self._drop_unread(result, addresses)
        return result

    def _fault(self, memory: MemoryObject, first: Op) -> Diagnostic | None:
        span = memory.span or first.span
        if isinstance(memory.element, PointerType):
            return Diagnostic(f"the array {memory.name} of pointers is indexed at run time", span,
                              "index it by constants only (unroll the loop), or keep offsets in it and one pointer beside it")
        if memory.length == 1:
            return Diagnostic(f"{memory.name} is accessed through a pointer to another type", first.span,
                              "use as_int, as_float and the like to read a value as another type")
        return None

    def _drop_unread(self, function: Function, addresses: dict[str, list[Op]]):
        """What is never read need not be written."""
        table = uses(function.body)
        gone: set[Op] = set()
        for name, ops in addresses.items():
            users = [user for op in ops for user, _ in table.get(op.result, [])]
            if all(user.opcode == "store" for user in users):
                gone.update(ops, users)
                del function.memories[name]
        if gone:
            for region in _regions(function.body):
                region.ops = [op for op in region.ops if op not in gone]


def _regions(region: Region):
    yield region
    for op in region.ops:
        for inner in op.regions:
            yield from _regions(inner)
