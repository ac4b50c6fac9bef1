"""The access slice of a flat kernel: the operations that decide the addresses and conditions of chosen operations."""

from collections import defaultdict
from collections.abc import Iterable

from ...ir import Attr, Function, Op, Region, Value, memory_name, reaches_memory

__all__ = ["AccessSlice", "written_memory"]


class AccessSlice:
    """Backward slices across loops and on-chip memories, in one function that does not change meanwhile.

    An operation needs those that compute its operands, and all loops around it with their conditions. A value that a
    loop carries needs its initial value and that of the next iteration. A load from an on-chip memory needs every
    operation that writes there. Buffers are not followed: the stores of the kernel do not reach a load that may leave
    it.
    """

    def __init__(self, function: Function) -> None:
        self._loop_of: dict[Op, Op | None] = {}
        self._carrying: dict[Region, Op] = {}
        self._writers: defaultdict[str, list[Op]] = defaultdict(list)
        self._visit(function.body, None, {name for name, memory in function.memories.items() if memory.onchip})

    def _visit(self, region: Region, loop: Op | None, onchip: set[str]) -> None:
        for op in region.ops:
            self._loop_of[op] = loop
            if (name := written_memory(op)) in onchip:
                self._writers[name].append(op)
            for inner in op.regions:
                self._carrying[inner] = op
                self._visit(inner, op, onchip)

    def of(self, roots: Iterable[Op]) -> set[Op]:
        """The operations that ``roots`` need, and these themselves."""
        found: set[Op] = set()
        seen: set[Value] = set()
        work: list[Op | Value] = list(roots)
        while work:
            one = work.pop()
            if isinstance(one, Op):
                if one not in found:
                    found.add(one)
                    work += self._needs(one)
            elif one not in seen:
                seen.add(one)
                work += self._sources(one)
        return found

    def _needs(self, op: Op) -> list[Op | Value]:
        around = self._loop_of[op]
        needed: list[Op | Value] = [] if around is None else [around]
        if op.regions:  # a loop: which values it carries is asked for one by one
            return [*needed, op.operands[0], op.regions[0].terminator.operands[0]]
        if op.opcode == "load":
            needed += self._writers.get(memory_name(op), ())
        return [*needed, *op.operands]

    def _sources(self, value: Value) -> list[Op | Value]:
        if isinstance(value.owner, Region):
            loop = self._carrying.get(value.owner)
            return [] if loop is None else _carried(loop, value.index)
        if value.op is None:
            return []
        return _carried(value.op, value.index) if value.op.regions else [value.op]


def _carried(loop: Op, index: int) -> list[Op | Value]:
    return [loop, loop.operands[1 + index], loop.regions[0].terminator.operands[1 + index]]


def written_memory(op: Op) -> str:
    """The memory that an operation writes, or makes anew; an empty text where it writes none."""
    if op.opcode in ("shift", "fill", "fresh"):
        return op.attrs[Attr.MEM]
    return memory_name(op) if reaches_memory(op) and op.opcode != "load" else ""
