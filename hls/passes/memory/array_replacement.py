"""Base class for the replacement of an array by other memories, operation by operation."""

from dataclasses import replace
from typing import Any

from ...ir import Attr, Builder, Function, MemoryObject, Op, Value
from ...ir.rewrite import rewrite
from .sroa import drop_addresses

__all__ = ["ArrayReplacement"]


class ArrayReplacement:
    """What replacements of a shifted array have in common. ``uses`` has its ``accesses`` and the ``attrs`` of the
    memories that replace it.

    A subclass adds its memories, emits what the start of the kernel needs (``_begin``), and rewrites each operation:
    ``_fresh``, ``_shift``, ``_fill`` and ``_access``, which returns the values that replace the results of an access.
    """

    def __init__(self, function: Function, memory: MemoryObject, uses: Any) -> None:
        self.function, self.memory, self.uses = function, memory, uses

    def _add(self, suffix: str, length: int, element=None, attrs=()) -> MemoryObject:
        """A new memory, named after the array."""
        name = f"{self.memory.name}.{suffix}"
        while name in self.function.memories:
            name += "_"
        new = replace(self.memory, name=name, length=length, element=element or self.memory.element, attrs=attrs)
        self.function.memories[name] = new
        return new

    def _replace(self) -> None:
        """Rewrite the kernel; the array is removed."""
        body = self.function.body
        before, body.ops = body.ops, []
        self._begin(Builder(body, self.memory.span))
        body.ops += before
        self._accesses = set(self.uses.accesses)
        rewrite(body, self._visit)
        drop_addresses(body, self.memory.name)
        del self.function.memories[self.memory.name]

    def _visit(self, op: Op, b: Builder) -> list[Value] | None:
        if op.opcode in ("fresh", "shift", "fill") and op.attrs[Attr.MEM] == self.memory.name:
            getattr(self, f"_{op.opcode}")(op, b)
            return []
        return self._access(op, b) if op in self._accesses else None

    def _begin(self, b: Builder) -> None:
        """Set the new memories before anything else runs."""
        raise NotImplementedError

    def _access(self, op: Op, b: Builder) -> list[Value] | None:
        """Replace an access; returns the values that replace its results."""
        raise NotImplementedError
