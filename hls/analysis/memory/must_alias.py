"""Accesses that touch exactly the same bytes: in one iteration, or a known number of iterations apart."""

from ...ir import Function, Op, Region, Type, has, is_access, lane_mask, memory_name, moved_type, walk
from ..affine.affine import Affine
from ..dependence.dependence import Dependence, DependenceTester, promised
from ..loops.loop_tree import Loop

__all__ = ["MustAlias"]


class MustAlias:
    """Answers questions about the accesses of a flat kernel without tokens. To be made anew when that has changed."""

    def __init__(self, function: Function, address_bits: int = 64):
        self.function = function
        self.tester = DependenceTester(function, address_bits)
        self.tree = self.tester.tree
        self.position = {op: k for k, op in enumerate(walk(function.body))}
        self._facts: dict[tuple[Op, Op], list[Dependence]] = {}
        self._forms: dict[Op, Affine] = {}

    def plain(self, op: Op) -> bool:
        """Whether the operation is an access, as a whole, of a memory that nobody else looks into."""
        return is_access(op) and lane_mask(op) is None and not self.function.memories[memory_name(op)].volatile

    def undisturbed(self, region: Region) -> bool:
        """Whether nothing in the region but loads and stores has an effect on memory, or on what others see of it."""
        return not any(has(op, "effect") and not is_access(op) for op in walk(region))

    def form(self, access: Op) -> Affine:
        """The byte offset of the access, where it takes place."""
        if access not in self._forms:
            self._forms[access] = self.tester.forms.offset(access)
        return self._forms[access]

    def row(self, access: Op, loop: Loop | None, before: int = 0) -> tuple:
        """Equal for all accesses that :meth:`distance` finds at some distance in this loop; of the place so many bytes
        before the access."""
        form = self.form(access)
        step, const = form.terms.get(loop, 0), form.const - before
        return memory_name(access), frozenset(form.terms.items()), const % step if step else const

    def fixed(self, access: Op, loop: Loop) -> bool:
        """Whether the access has the same place in every iteration of one run of the loop."""
        form = self.form(access)
        return loop not in form.terms and self._steady(form, loop)

    def same_size(self, one: Op, other: Op) -> bool:
        """Whether the accesses, which are aligned, touch all bytes of each other or none."""
        return memory_name(one) == memory_name(other) and _alike(moved_type(one), moved_type(other))

    def larger(self, one: Op, other: Op) -> bool:
        """Whether the first access, which is aligned like the other, touches all bytes of that or none, and more."""
        outer, inner = moved_type(one), moved_type(other)
        return (
            memory_name(one) == memory_name(other)
            and outer.bytes > inner.bytes
            and all(t.bits == 8 * t.bytes for t in (outer, inner))
        )

    def distance(self, store: Op, load: Op, loop: Loop | None, before: int = 0) -> int | None:
        """After how many iterations of the loop (0: in the same one) the load reads exactly what the store wrote, or,
        where that is larger, a part of it ``before`` bytes behind its begin; None if never, or if nobody knows. Both
        stand in the loop's body (None: in the kernel's). Fixed places have distance 0."""
        if not (self.larger(store, load) or before == 0 and self.same_size(store, load)):
            return None
        written, read = self.form(store), self.form(load)
        if written.terms != read.terms:
            return None
        apart, step = written.const + before - read.const, written.terms.get(loop, 0)
        if apart == 0:
            return 0
        if step == 0 or apart % step or abs(step) < moved_type(store).bytes or not self._steady(written, loop):
            return None
        return apart // step

    def _steady(self, form: Affine, loop: Loop | None) -> bool:
        """Whether what is unknown of the form stays the same in one run of the loop."""
        homes = (self.tree.changing(symbol.value) for symbol in form.symbols())
        return not any(home is not None and loop in home.path for home in homes)

    def steadily_apart(self, one: Op, other: Op, loop: Loop) -> bool:
        """Whether the places of two accesses are equally far apart in each iteration of one run of the loop, but nobody
        knows how far."""
        apart = self.form(one) - self.form(other)
        return bool(apart.terms) and loop not in apart.loops() and self._steady(apart, loop)

    def between(self, one: Op, other: Op) -> list[Dependence]:
        """What is known of the order of two accesses, after what `ivdep` promises."""
        first, second = sorted((one, other), key=self.position.__getitem__)
        if (first, second) not in self._facts:
            facts = (promised(fact) for fact in self.tester.pair(first, second))
            self._facts[first, second] = [fact for fact in facts if fact is not None]
        return self._facts[first, second]

    def may_meet(self, one: Op, other: Op, loop: Loop) -> bool:
        """Whether two accesses, one of which stores, may touch the same bytes in one run of the loop."""
        return any(fact.loop is None or fact.loop is loop.op for fact in self.between(one, other))


def _alike(one: Type, other: Type) -> bool:
    """Whether a value of one type has the bytes of one of the other."""
    return one == other or one.bits == other.bits == 8 * one.bytes == 8 * other.bytes
