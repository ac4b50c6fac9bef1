"""Loops with ``#pragma ivdep``: what they promise of their iterations is held against every access of theirs.

An access inside of such a loop, or in a helper that is called from inside, tells the runtime of its place
(``promises.h``), which ends the run at the first that the promise rules out.
"""

from collections.abc import Mapping

from ..ir import Attr, Function, Op, walk

__all__ = ["Promises", "vows"]


class Promises:
    """Which accesses of which functions tell of themselves."""

    def __init__(self, functions: Mapping[str, Function]):
        self._inside: set[Op] = set()
        self._helpers: set[str] = set()
        for function in functions.values():
            for loop in walk(function.body):
                if loop.attrs.get(Attr.IVDEP):
                    self._add(loop.regions, functions)

    def _add(self, regions, functions: Mapping[str, Function]):
        for op in (op for region in regions for op in walk(region)):
            self._inside.add(op)
            callee = op.attrs[Attr.CALLEE] if op.opcode == "call" else None
            if callee is not None and callee not in self._helpers:
                self._helpers.add(callee)
                self._add([functions[callee].body], functions)

    def watch(self, op: Op) -> bool:
        """Whether an operation tells of what it does to memory."""
        return op in self._inside

    def called(self, function: Function) -> bool:
        """Whether a helper runs inside of a loop that promises."""
        return function.name in self._helpers

    def place(self, op: Op, pointer: str, bytes: int, site: int) -> str:
        """The place that an access reads or writes, as its text."""
        if op not in self._inside:
            return pointer
        return f"touched(item.promises, {pointer}, {bytes}, {site}, {str(op.opcode == 'store').lower()})"


def vows(loop: Op, numbers: Mapping[str, int]) -> str:
    """What a loop promises, as C++ lists it. ``numbers``: of the function's memories; what is none of them meets
    nothing."""
    return ", ".join(
        f"{{{numbers[name] if name else 0}, {safelen}}}"
        for name, safelen in loop.attrs.get(Attr.IVDEP, ())
        if not name or name in numbers
    )
