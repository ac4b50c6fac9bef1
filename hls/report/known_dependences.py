"""Loop-carried dependences that certainly exist, so that an ``ivdep`` that denies them is wrong."""

from functools import cached_property
from typing import Any

from ..analysis.affine.affine import Affine
from ..analysis.dependence.dependence import DependenceTester
from ..analysis.loops.loop_tree import Loop
from ..ir import Attr, Function, Op, is_access, memory_name, predicate, walk
from ..ir.rewrite import constant

__all__ = ["KnownDependences"]


class KnownDependences:
    """Answers queries about the accesses of one flat kernel."""

    def __init__(self, function: Function, address_bits: int) -> None:
        self.function, self.address_bits = function, address_bits
        self._contradicted: dict[tuple[Op, str], bool] = {}

    @cached_property
    def _tester(self) -> DependenceTester:
        return DependenceTester(self.function, self.address_bits)

    @cached_property
    def _position(self) -> dict[Op, int]:
        return {op: k for k, op in enumerate(walk(self.function.body))}

    def meet(self, src: Op, dst: Op, loop: Op) -> bool:
        """Whether ``dst`` accesses an address that ``src`` accessed in an earlier iteration, in every run with enough
        iterations: both always execute, and their distance does not depend on the run."""
        if not (is_access(src) and is_access(dst)) or memory_name(src) != memory_name(dst):
            return False
        if not (_always(src) and _always(dst)) or self._unknowns(src) != self._unknowns(dst):
            return False
        trips = loop.attrs.get(Attr.TRIP_COUNT)
        return any(
            fact.src is src
            and fact.dst is dst
            and fact.loop is loop
            and fact.known
            and not fact.overlap
            and (trips is None or fact.distance < trips)
            for first, second in (sorted((src, dst), key=self._position.__getitem__),)
            for fact in self._tester.pair(first, second)
        )

    def contradict(self, loop: Op, memory: str) -> bool:
        """Whether it is false that no iteration of the loop accesses an element of the memory that another one has
        stored."""
        key = loop, memory
        if key not in self._contradicted:
            accesses = [op for op in walk(loop.regions[0]) if is_access(op) and memory_name(op) == memory]
            stores = [op for op in accesses if op.opcode != "load"]
            self._contradicted[key] = any(
                self.meet(src, dst, loop)
                for store in stores
                for op in accesses
                for src, dst in ((store, op), (op, store))
            )
        return self._contradicted[key]

    def _unknowns(self, access: Op) -> dict[Any, Any]:
        """The unknowns of the address other than loop counters, with their factors. Symbols that only say that a
        counter does not wrap are left out."""
        form: Affine = self._tester.forms.offset(access)
        return {
            symbol: factor
            for symbol, factor in form.terms.items()
            if not isinstance(symbol, Loop) and symbol.wraps is None
        }


def _always(access: Op) -> bool:
    condition = predicate(access)
    return condition is None or constant(condition) is not None
