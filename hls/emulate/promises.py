"""Loops with ``#pragma ivdep``: every access in them is checked against what the pragma asserts.

An access inside such a loop, or in a helper called from inside, reports its address to the runtime (``promises.h``),
which ends the run at the first access that violates the assertion.
"""

from collections.abc import Mapping

from ..ir import Attr, Function, Op, Type, walk
from ..ir.model_function import callee_of
from .types import memory_type

__all__ = ["Promises"]


class Promises:
    """The accesses, by function, that report themselves; none unless the assertions are ``checked``: in a planned
    kernel, iterations share the places of copies of an array, and loads are made that the source does not make."""

    def __init__(self, functions: Mapping[str, Function], checked: bool = True) -> None:
        self._checked = checked
        self._inside: set[Op] = set()
        self._helpers: set[str] = set()
        for function in functions.values() if checked else ():
            for loop in walk(function.body):
                if loop.attrs.get(Attr.IVDEP):
                    self._add(loop.regions, functions)

    def _add(self, regions, functions: Mapping[str, Function]) -> None:
        for op in (op for region in regions for op in walk(region)):
            self._inside.add(op)
            callee = callee_of(op)
            if callee is not None and callee not in self._helpers:
                self._helpers.add(callee)
                self._add([functions[callee].body], functions)

    def watch(self, op: Op) -> bool:
        """Whether an operation reports its memory access."""
        return op in self._inside

    def called(self, function: Function) -> bool:
        """Whether a helper is called inside a loop with the pragma."""
        return function.name in self._helpers

    def place(self, op: Op, pointer: str, type: Type, site: int, stored: str = "") -> str:
        """The text of the address that an access reads or writes; ``stored`` is that of the value of a store."""
        if op not in self._inside:
            return pointer
        writes = str(op.opcode == "store").lower()
        same = f", leaves<{memory_type(type)}>(item.promises, {pointer}, {stored})" if stored else ""
        return f"touched(item.promises, {pointer}, {type.bytes}, {site}, {writes}{same})"

    def vows(self, loop: Op, numbers: Mapping[str, int]) -> str:
        """The assertions of a loop that are checked, as a C++ list. ``numbers`` are those of the function's memories;
        other memories are not checked."""
        return ", ".join(
            f"{{{numbers[name] if name else 0}, {safelen}}}"
            for name, safelen in (loop.attrs.get(Attr.IVDEP, ()) if self._checked else ())
            if not name or name in numbers
        )
