"""Dependences from one iteration to a later one that exist for certain: a promise that there is none is a lie."""

from functools import cached_property

from ..analysis.affine.affine import Affine
from ..analysis.dependence.dependence import DependenceTester
from ..analysis.loops.loop_tree import Loop
from ..ir import Attr, Function, Op, is_access, memory_name, predicate, walk
from ..ir.rewrite import constant

__all__ = ["KnownDependences"]


class KnownDependences:
    """Answers for the accesses of one flat kernel."""

    def __init__(self, function: Function, address_bits: int):
        self.function, self.address_bits = function, address_bits
        self._contradicted: dict[tuple[Op, str], bool] = {}

    @cached_property
    def _tester(self) -> DependenceTester:
        return DependenceTester(self.function, self.address_bits)

    @cached_property
    def _position(self) -> dict[Op, int]:
        return {op: k for k, op in enumerate(walk(self.function.body))}

    def meet(self, src: Op, dst: Op, loop: Op) -> bool:
        """Whether ``dst`` touches what ``src`` touched in an earlier iteration of the loop, in every run that has as
        many iterations: both always take place, and how far apart they are does not depend on the run."""
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
            for fact in self._tester.pair(*sorted((src, dst), key=self._position.__getitem__))
        )

    def contradict(self, loop: Op, memory: str) -> bool:
        """Whether it is a lie that no iteration of the loop touches an element of the memory that another one has
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

    def _unknowns(self, access: Op) -> dict:
        """What is unknown of the address, but for counters, with its factor. What only says that a counter does not
        wrap is no matter."""
        form: Affine = self._tester.forms.offset(access)
        return {
            symbol: factor
            for symbol, factor in form.terms.items()
            if not isinstance(symbol, Loop) and symbol.wraps is None
        }


def _always(access: Op) -> bool:
    condition = predicate(access)
    return condition is None or constant(condition) is not None
