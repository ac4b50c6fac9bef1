"""Limit check: refuses kernels with excessively many accesses to global memory, or to one array, before costly
passes."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ...diag import Code, CompileError
from ...ir import Function, Op, walk
from ...ir.accesses import memory_name
from ...ir.launch import units_of
from ...limits import Limits, exceeded
from ..manager import Form, FunctionPass

__all__ = ["LimitAccesses"]


@dataclass(frozen=True)
class LimitAccesses(FunctionPass):
    """Limit check. Before: flat, without tokens. After: the unchanged function, with at most ``max_accesses`` accesses
    to global memory in all compute units, and ``max_array_accesses`` to each array on the chip. It runs after
    coalescing, and before passes whose time grows with the square of the number, as they test all pairs for dependence.

    Raises CompileError for more.
    """

    max_accesses: int = Limits.accesses
    max_array_accesses: int = Limits.array_accesses

    name = "limit-accesses"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """The same function."""
        outside: list[Op] = []
        arrays: defaultdict[str, list[Op]] = defaultdict(list)
        for op in walk(function.body):
            memory = function.memories.get(memory_name(op)) if op.opcode in ("load", "store", "atomic") else None
            if memory is not None and memory.space != "constant":
                (arrays[memory.name] if memory.onchip else outside).append(op)
        self._check_global(function, outside)
        for name, accesses in arrays.items():
            self._check_array(function, name, accesses)
        return function

    def _check_global(self, function: Function, found: list[Op]) -> None:
        units = units_of(function)
        if units * len(found) > self.max_accesses:
            here, copies = _largest(found)
            many = f"{len(found):,} sites" + (f" and has {units} compute units" if units > 1 else "")
            most = many + _copies(copies, len(found))
            raise CompileError.at(
                here.span or function.span,
                f"kernel {function.name} accesses global memory at {most}; each is hardware of its own; "
                f"the limit is {self.max_accesses:,}",
                f"unroll less, or access adjacent elements, which are coalesced; {exceeded('accesses')}",
                code=Code.BUDGET,
            )

    def _check_array(self, function: Function, name: str, found: list[Op]) -> None:
        if len(found) > self.max_array_accesses:
            here, copies = _largest(found)
            raise CompileError.at(
                here.span or function.span,
                f"kernel {function.name} accesses the array '{name}' at {len(found):,} sites"
                f"{_copies(copies, len(found))}, which share its "
                f"ports; the limit is {self.max_array_accesses:,}",
                f"unroll less, or write a loop; {exceeded('array-accesses')}",
                code=Code.BUDGET,
            )


def _largest(found: Sequence[Op]) -> tuple[Op, int]:
    """The first access of the place in the source that most of them are copies of, and the number of those."""
    (place, copies), *_ = Counter(op.span for op in found).most_common(1)
    return next(op for op in found if op.span == place), copies if place is not None else 1


def _copies(copies: int, total: int) -> str:
    """What a message says of the sites that are copies of one in the source."""
    if copies == 1:
        return ""
    return f", {'all' if copies == total else f'{copies:,}'} of them copies of this one"
