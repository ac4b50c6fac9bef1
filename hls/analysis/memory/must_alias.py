"""Must-alias analysis: accesses that touch exactly the same bytes, in one iteration or a known distance apart."""

from typing import Any

from ...ir import Function, Op, Region, Type, is_access, lane_mask, memory_name, moved_type, walk
from ...ir.accesses import orders_accesses
from ..affine.affine import Affine
from ..dependence.dependence import Dependence, DependenceTester, promised
from ..loops.loop_tree import Loop

__all__ = ["MustAlias"]


class MustAlias:
    """Tests accesses of a flat kernel without tokens. To be rebuilt when the kernel has changed."""

    def __init__(self, function: Function, address_bits: int = 64) -> None:
        self.function = function
        self.tester = DependenceTester(function, address_bits)
        self.tree = self.tester.tree
        self.position = {op: k for k, op in enumerate(walk(function.body))}
        self._facts: dict[tuple[Op, Op], list[Dependence]] = {}
        self._forms: dict[Op, Affine] = {}

    def plain(self, op: Op) -> bool:
        """Whether the operation is an access without a lane mask, to a memory whose accesses nothing else observes."""
        return is_access(op) and lane_mask(op) is None and not self.function.memories[memory_name(op)].volatile

    def undisturbed(self, region: Region) -> bool:
        """Whether only loads and stores in the region affect memory, or what others observe of it."""
        return not any(map(orders_accesses, walk(region)))

    def form(self, access: Op) -> Affine:
        """The byte offset of the access, valid if it executes."""
        if access not in self._forms:
            self._forms[access] = self.tester.forms.offset(access)
        return self._forms[access]

    def row(self, access: Op, loop: Loop | None, before: int = 0) -> tuple[Any, ...]:
        """A key that is equal for all accesses for which :meth:`distance` finds a distance in this loop; for the
        address ``before`` bytes below that of the access."""
        form = self.form(access)
        step, const = form.terms.get(loop, 0), form.const - before
        return memory_name(access), frozenset(form.terms.items()), const % step if step else const

    def fixed(self, access: Op, loop: Loop) -> bool:
        """Whether the access has the same address in every iteration of one invocation of the loop."""
        form = self.form(access)
        return loop not in form.terms and self.steady(form, loop)

    def same_size(self, one: Op, other: Op) -> bool:
        """Whether the accesses, which are aligned, touch either all bytes of each other or none."""
        return memory_name(one) == memory_name(other) and _alike(moved_type(one), moved_type(other))

    def larger(self, one: Op, other: Op) -> bool:
        """Whether the first access, which is aligned like the other, touches all bytes of it and more, or none."""
        outer, inner = moved_type(one), moved_type(other)
        return (
            memory_name(one) == memory_name(other)
            and outer.bytes > inner.bytes
            and all(t.bits == 8 * t.bytes for t in (outer, inner))
        )

    def distance(self, store: Op, load: Op, loop: Loop | None, before: int = 0) -> int | None:
        """The number of iterations of the loop (0: the same one) after which the load reads exactly what the store
        wrote, or, if that is larger, the part ``before`` bytes after its begin; None if never, or unknown. Both are in
        the loop's body (None: the kernel's). Invariant addresses have distance 0."""
        if not (self.larger(store, load) or before == 0 and self.same_size(store, load)):
            return None
        written, read = self.form(store), self.form(load)
        if written.terms != read.terms:
            return None
        apart, step = written.const + before - read.const, written.terms.get(loop, 0)
        if apart == 0:
            return 0
        if step == 0 or apart % step or abs(step) < moved_type(store).bytes or not self.steady(written, loop):
            return None
        return apart // step

    def steady(self, form: Affine, loop: Loop | None) -> bool:
        """Whether the unknowns of the form, but for the loop's counter, are invariant in one invocation of the loop."""
        homes = (self.tree.changing(symbol.value) for symbol in form.symbols())
        return not any(home is not None and loop in home.path for home in homes)

    def steadily_apart(self, one: Op, other: Op, loop: Loop) -> bool:
        """Whether the distance of the addresses of two accesses is invariant in one invocation of the loop, but
        unknown."""
        apart = self.form(one) - self.form(other)
        return bool(apart.terms) and loop not in apart.loops() and self.steady(apart, loop)

    def between(self, one: Op, other: Op) -> list[Dependence]:
        """The dependences between two accesses, under `ivdep`."""
        first, second = sorted((one, other), key=self.position.__getitem__)
        if (first, second) not in self._facts:
            facts = (promised(fact) for fact in self.tester.pair(first, second))
            self._facts[first, second] = [fact for fact in facts if fact is not None]
        return self._facts[first, second]

    def may_meet(self, one: Op, other: Op, loop: Loop) -> bool:
        """Whether two accesses, one of which stores, may touch the same bytes in one invocation of the loop."""
        return any(fact.loop is None or fact.loop is loop.op for fact in self.between(one, other))


def _alike(one: Type, other: Type) -> bool:
    """Whether a value of either type has all the bytes of one of the other type."""
    return one == other or one.bits == other.bits == 8 * one.bytes == 8 * other.bytes
