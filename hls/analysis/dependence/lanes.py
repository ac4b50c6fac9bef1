"""The bytes that an access touches, and what queries about pairs of accesses are answered from."""

from dataclasses import dataclass
from typing import Protocol

from ...ir import Op, moved_type
from ..affine.affine import Affine, AffineForms
from ..affine.iteration_domain import Domains
from ..loops.loop_tree import LoopTree

__all__ = ["Asker", "Lanes", "size_of"]


def size_of(access: Op) -> int:
    """Bytes from the first to the last one that the access may touch."""
    return moved_type(access).bytes


@dataclass(frozen=True)
class Lanes:
    """Bytes ``low`` to ``high`` - 1 of an access, touched only if all of ``forms`` are at least 0."""

    low: int
    high: int
    forms: tuple[Affine, ...]


class Asker(Protocol):
    """The facts about accesses and loops of a function that a query needs."""

    forms: AffineForms
    tree: LoopTree
    domains: Domains

    def lanes_of(self, access: Op) -> tuple[Lanes, ...]:
        """The bytes that a masked access touches, and under which conditions; empty for accesses without a mask."""
