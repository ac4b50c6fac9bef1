"""Choice of how a dependence is kept: by the levels of a pipeline, by tokens inside an inner loop, or by a wait for the
end of that loop."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from ...analysis.dependence.dependence import Dependence, DependenceTester, Kind
from ...analysis.loops.forward_slice import computed_from, taken
from ...analysis.loops.loop_tree import Loop, LoopTree
from ...analysis.loops.sccs import components
from ...ir import Attr, Function, InterleaveReason, Op, Region, Value, has
from ...ir.accesses import memory_name
from ...narrow import present
from ..memory.multi_buffer_private import copies_of_loop
from .write_port_constraints import may_write_twice

__all__ = ["OrderChoice"]

#: trip count up to which a loop does not hide the latency from a load to a store
SHORT = 64
#: iterations between two accesses that hide the latency from a load to a store in most loops
LATENCY = 16


def _is_slow(body: Region) -> bool:
    """Whether a loop carries a value through more than the logic of counters, so that interleaving its invocations
    pays."""
    for arg, following in zip(body.args, body.terminator.operands[1:], strict=True):
        ahead, behind = computed_from(body, {arg}), {following}
        if following not in ahead:
            continue
        for op in reversed(body.ops[:-1]):
            if behind.intersection(op.results) and ahead.intersection(op.results):
                behind.update(op.operands)
                if not has(op, "logic"):
                    return True
    return False


def _at_most(loops: Iterable[Loop], invocations: int) -> None:
    """Interleave no more invocations of these loops than there are copies for."""
    for loop in loops:
        asked = loop.op.attrs.get(Attr.MAX_INTERLEAVING) or invocations
        if invocations < asked or Attr.MAX_INTERLEAVING not in loop.op.attrs:
            loop.op.attrs |= {
                Attr.MAX_INTERLEAVING: min(asked, invocations),
                Attr.INTERLEAVE_REASON: InterleaveReason.PRIVATE_COPIES,
            }


class OrderChoice:
    """What keeps each of the dependences ``needed`` of one function. To be made before there are tokens, which change
    what the analysis looks at."""

    def __init__(
        self,
        function: Function,
        tree: LoopTree,
        tester: DependenceTester,
        hazards: bool,
        compared: Collection[str],
        needed: Sequence[Dependence],
    ) -> None:
        self.function, self.tree, self.hazards, self.compared = function, tree, hazards, compared
        self.rather_wait = self._rather_wait(needed)
        #: of dependences in one loop: how far ahead the source is (:meth:`DependenceTester.ahead`)
        self.ahead = {fact: tester.ahead(fact) for fact in needed if self._in_one_loop(fact)}
        #: pairs of loops: an iteration of the first enters the second when the one before has left it, in any case
        self.in_sequence = {pair for fact in needed for pair in self._in_sequence(fact)}
        self.one_at_a_time: set[Op | None] = set()  #: loops with one invocation at a time

    def find_waits(self, across: Iterable[Dependence]) -> None:
        """Find the loops with one invocation at a time, by the dependences that are left to tokens."""
        self.one_at_a_time = {self.inner(fact) for fact in across if self.waits_for_end(fact)}

    def by_answer(self, fact: Dependence) -> bool:
        """Whether the result of the source is enough to wait for: of a load, or of an atomic operation before another
        one, as one unit executes both."""
        atomics = fact.src.opcode == fact.dst.opcode == "atomic" and memory_name(fact.src) == memory_name(fact.dst)
        return fact.kind is Kind.WAR or atomics and self.function.memories[memory_name(fact.src)].space == "global"

    def is_kept(self, fact: Dependence) -> bool:
        """Whether an inner loop around both accesses keeps the order, since it waits anyway for the end of its
        invocation in the previous iteration: by then loads have returned and stores have been issued. (A loop begins
        when all tokens that its operations take are there.)"""
        pushed = self.by_answer(fact) or fact.src is fact.dst
        return pushed and self._goes_to_memory(fact) and self.inner(fact) in self.one_at_a_time

    def waits_for_end(self, fact: Dependence) -> bool:
        """Whether an access in a loop inside the fact's loop waits for stores of the previous iteration in that inner
        loop."""
        waits = fact.loop is not None and not self.by_answer(fact) and fact.src is not fact.dst and fact.distance == 1
        inner = self.inside(fact) if waits and self._goes_to_memory(fact) else []
        return bool(inner) and not self.beside(fact, inner)

    def _goes_to_memory(self, fact: Dependence) -> bool:
        """Whether the fact concerns one buffer in global memory, of which iterations have no copies."""
        return (
            not fact.overlap
            and self.function.memories[memory_name(fact.src)].space == "global"
            and not present(fact.loop).attrs.get(Attr.RING)
        )

    def comparable(self, fact: Dependence) -> bool:
        """Whether addresses may be compared at run time instead."""
        if not self.hazards and memory_name(fact.src) not in self.compared:
            return False
        in_ring = fact.loop is not None and fact.loop.attrs.get(Attr.RING)
        if fact.kind is not Kind.WAR and fact.dst in self.rather_wait:
            return False
        return not in_ring and fact.src.opcode == "store" and not self.function.memories[memory_name(fact.src)].onchip

    def _rather_wait(self, needed: Sequence[Dependence]) -> set[Op]:
        """Loads that need not be compared with stores of their own nest. Their address is on a recurrence with their
        result, so each iteration would pay for the comparison; and only a loop around at least two more carries their
        dependences, which waits once for all iterations of those."""
        loads = defaultdict[Op, list[Dependence]](list)
        for fact in needed:
            if fact.kind is Kind.RAW and fact.dst.opcode == "load":
                loads[fact.dst].append(fact)
        found, late = set(), dict[Region, Mapping[Value, int]]()
        for load, facts in loads.items():
            if any(fact.loop is None or fact.overlap or len(self.inside(fact)) < 2 for fact in facts):
                continue
            region = self.tree.region_of(load)
            late[region] = late.get(region) or components(region)
            place = late[region].get(load.operands[0])
            if place is not None and late[region].get(load.result) == place:
                found.add(load)
        return found

    def alone(self, fact: Dependence) -> Op | None:
        """The source, if the fact orders stores of one loop that a memory with two write ports may write in one cycle,
        one before the other."""
        twice = fact.kind is Kind.WAW and may_write_twice(self.function.memories[memory_name(fact.src)])
        stores = fact.src.opcode == fact.dst.opcode == "store"
        return fact.src if twice and stores and self.tree.region_of(fact.src) is self.tree.region_of(fact.dst) else None

    def take_turns(self, fact: Dependence, inner: list[Loop]) -> bool:
        """Whether work-items, or iterations of the fact's loop, that have copies of a private array may be in one inner
        loop at the same time: then the inner loop interleaves them, and an access that follows, or reuses the copy,
        waits until the earlier one is done, while others go on."""
        if not inner or fact.overlap:
            return False
        name = memory_name(fact.src)
        if any(
            loop.op.attrs.get(Attr.PARALLEL) and copies_of_loop(self.function, loop.op, name) > 1
            for loop in self.common(fact)
        ):
            return True
        # interleave iterations only if they gain by it, and nothing else prevents it
        gains = self.may_gain(fact) and all(loop.op.attrs.get(Attr.INTERLEAVE, True) for loop in inner)
        if gains:
            _at_most(inner, fact.distance)
        return gains

    def may_gain(self, fact: Dependence) -> bool:
        """Whether the iterations between which the fact holds have copies of the memory, and interleaving them in an
        inner loop pays."""
        if (
            fact.overlap
            or present(fact.loop).attrs.get(Attr.PARALLEL)
            or copies_of_loop(self.function, present(fact.loop), memory_name(fact.src)) == 1
        ):
            return False
        return any(_is_slow(loop.body) for loop in self.inside(fact))

    def beside(self, fact: Dependence, inner: list[Loop]) -> bool:
        """Whether the order of tokens of the one inner loop that both accesses are in, which is that of its
        invocations, suffices, and the loops around need not wait until it has ended."""
        if fact not in self.ahead or len(inner) > 1 and self._is_short(fact, inner[-1].op):
            # each of many short invocations would wait for the previous one: wait once for all of them instead
            return False
        if (present(fact.loop), inner[0].op) in self.in_sequence:
            return False  # tokens in the inner loop would order what has order already, at the cost of stages
        return not any(loop.op.attrs.get(Attr.RING) for loop in (self.tree.loops[present(fact.loop)], *inner))

    def _in_one_loop(self, fact: Dependence) -> bool:
        """Whether both accesses are in one loop inside the fact's loop, and to one memory that never stalls."""
        inner = self.inside(fact) if fact.loop is not None else []
        return (
            bool(inner)
            and all(self.tree.region_of(op) is inner[-1].body for op in (fact.src, fact.dst))
            and self._never_stalls(fact)
        )

    def _in_sequence(self, fact: Dependence) -> list[tuple[Op, Op]]:
        """The fact's loop, and the inner loop around the access that waits, if what it waits for uses the results of
        that inner loop in the iteration before."""
        if fact.loop is None or fact.distance != 1 or fact.overlap or self.comparable(fact):
            return []
        (body,) = fact.loop.regions
        src, dst = self.tree.ancestor(fact.src, body), self.tree.ancestor(fact.dst, body)
        if src is dst or dst.opcode != "loop" or computed_from(body, set(dst.results)).isdisjoint(taken(src)):
            return []
        return [(fact.loop, dst)]

    def _is_short(self, fact: Dependence, loop: Op) -> bool:
        """Whether invocations of the loop are too short to hide the latency from a load to a store of the one before.
        An invocation of unknown length may be; waiting for a loop around it may take much longer, though, where that
        loop waits for external memory too."""
        trips = loop.attrs.get(Attr.TRIP_COUNT, SHORT if self.hazards else 0)
        ahead = self.ahead[fact]
        return trips < SHORT and (ahead is None or trips - ahead < LATENCY)

    def _never_stalls(self, fact: Dependence) -> bool:
        """Whether accesses take a fixed number of cycles in the level they are in: those to memories of the kernel, and
        to global memory on the chip."""
        return not fact.overlap and (not self.hazards or self.function.memories[memory_name(fact.src)].onchip)

    def inner(self, fact: Dependence) -> Op | None:
        """The outermost loop around both accesses inside the fact's loop."""
        inner = self.inside(fact)
        return inner[0].op if inner else None

    def inside(self, fact: Dependence) -> list[Loop]:
        """The loops around both accesses that are inside the fact's loop."""
        common = self.common(fact)
        return common[common.index(self.tree.loops[present(fact.loop)]) + 1 :]

    def common(self, fact: Dependence) -> list[Loop]:
        """The loops around both accesses."""
        return [a for a, b in zip(self.tree.around(fact.src), self.tree.around(fact.dst)) if a is b]
