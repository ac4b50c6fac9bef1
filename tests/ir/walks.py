"""Traversals of functions for printers, and their common words."""

from itertools import combinations_with_replacement

from hls.analysis.loops.loop_tree import Loop, LoopTree
from hls.ir import Function, IntType, Op, Value, memory_name, reaches_memory, walk
from hls.ir.rewrite import is_constant
from tests.ir.names import Names

__all__ = [
    "accesses_of",
    "conditions_of",
    "counted",
    "integers",
    "iterations",
    "loop_of",
    "loops_of",
    "or_unknown",
    "pairs_of",
]


def loops_of(function: Function) -> list[Op]:
    """All loops, those inside others included."""
    return [op for op in walk(function.body) if op.opcode == "loop"]


def accesses_of(function: Function) -> list[Op]:
    """All loads and stores."""
    return [op for op in walk(function.body) if op.opcode in ("load", "store") and reaches_memory(op)]


def pairs_of(function: Function) -> list[tuple[Op, Op]]:
    """Two accesses of one memory, one of which stores, the earlier one first; also a store with itself."""
    return [
        (one, other)
        for one, other in combinations_with_replacement(accesses_of(function), 2)
        if memory_name(one) == memory_name(other)
        and "store" in (one.opcode, other.opcode)
        and (one is not other or one.opcode == "store")
    ]


def iterations(number: int) -> str:
    """So many iterations, in words."""
    return counted(number, "iteration")


def counted(number: int, what: str) -> str:
    """So many of them, in words."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def loop_of(tree: LoopTree, op: Op) -> Loop:
    """The loop of the tree that an operation is."""
    return tree.around(op.regions[0].terminator)[-1]


def or_unknown(found: object, what: str) -> str:
    """A number with its unit, or that there is none."""
    return "unknown" if found is None else f"{found} {what}"


def integers(names: Names) -> list[Value]:
    """All integers that are no constants."""
    return [v for v in names.values() if isinstance(v.type, IntType) and not is_constant(v)]


def conditions_of(names: Names) -> list[Value]:
    """Bits that operations other than loops compute."""
    return [v for v in integers(names) if v.type.bits == 1 and v.op is not None and v.op.opcode != "loop"]
