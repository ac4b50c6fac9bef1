"""Run-time memory disambiguation: the accesses whose addresses are compared with those of earlier stores."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...analysis.dependence.dependence import Dependence, Kind
from ...analysis.loops.forward_slice import behind
from ...analysis.loops.loop_tree import Loop, LoopTree
from ...ir import Op, Region, Value, lane_mask
from ...ir.accesses import memory_name, predicate
from ...narrow import present

__all__ = ["MOST_CHECKED", "Check", "find_checks"]

#: most pairs of an access and a store in one check that also delays stores: each pair takes as many comparators as the
#: latency of memory in cycles
MOST_PAIRS = 16
#: from this distance (in iterations) on, waiting for an iteration costs no more than comparing addresses
MOST_CHECKED = 128


@dataclass(frozen=True)
class Check:
    """Accesses of one region that wait for stores of earlier iterations only if the addresses are equal.

    ``asks`` lists for each of the ``accesses`` the numbers of the ``stores`` it is compared with, and ``known`` whether
    its predicate is known with its address, independent of the loads; ``certain`` says the same of the stores.
    ``facts`` are the dependences that need no other order then; invocations of ``loops`` must not interleave, so that
    tokens come in program order.
    """

    region: Region
    accesses: tuple[Op, ...]
    asks: tuple[tuple[int, ...], ...]
    known: tuple[bool, ...]
    stores: tuple[Op, ...]
    certain: tuple[bool, ...]
    facts: tuple[Dependence, ...]
    loops: tuple[Loop, ...]

    @property
    def operands(self) -> set[Value]:
        """What it compares: addresses, and the predicates that are known with them."""
        parties = [*zip(self.accesses, self.known, strict=True), *zip(self.stores, self.certain, strict=True)]
        return {op.operands[0] for op, _ in parties} | {predicate(op) for op, early in parties if early}


@dataclass
class _Group:
    """Accesses of one region and memory whose addresses do not depend on each other's results; ``behind`` are the
    values that do."""

    region: Region
    memory: str
    accesses: list[Op] = field(default_factory=list)
    facts: list[Dependence] = field(default_factory=list)
    behind: set[Value] = field(default_factory=set)

    def join(self, access: Op, facts: list[Dependence], late: set[Value]) -> bool:
        """Add the access, which waits for the sources of the facts, if all addresses are still known early enough."""
        both = self.behind | late
        asked = [*self.accesses, access]
        early = [v for one in asked for v in _asking(one)] + [fact.src.operands[0] for fact in (*self.facts, *facts)]
        pairs = {(fact.src, fact.dst) for fact in (*self.facts, *facts)}
        if both.intersection(early) or len(pairs) > MOST_PAIRS and any(dst.opcode == "store" for _, dst in pairs):
            return False
        self.accesses.append(access)
        self.facts += facts
        self.behind = both
        return True


def find_checks(tree: LoopTree, known: Iterable[Dependence], within: Iterable[Dependence]) -> list[Check]:
    """Checks for accesses that depend on stores of other iterations, if the addresses of the stores are known before
    the loads complete. ``within`` are all dependences within an iteration, also of memories that are not compared: a
    load that waits for another buffer's store knows its value, and what depends on it, after that store."""
    wanted: dict[Op, list[Dependence]] = {}
    ruled_out = set()
    followers: dict[Op, set[Op]] = {}  #: the accesses that follow an access in one iteration, by memory order
    for fact in within:
        followers.setdefault(fact.src, set()).add(fact.dst)
    for fact in known:
        if lane_mask(fact.src) or lane_mask(fact.dst):
            continue  # covers a variable range: there are several addresses to compare
        if fact.kind is Kind.WAR or fact.overlap or tree.region_of(fact.src) is not tree.region_of(fact.dst):
            continue
        if fact.loop is None:
            ruled_out.add((fact.src, fact.dst))  # order within the iteration is kept by other means
        elif fact.src is not fact.dst and (not fact.known or fact.distance < MOST_CHECKED):
            wanted.setdefault(fact.dst, []).append(fact)
    groups: list[_Group] = []
    for access, facts in wanted.items():
        facts = [fact for fact in facts if (fact.src, access) not in ruled_out]
        region, memory = tree.region_of(access), memory_name(access)
        late = behind(region, (access,), followers)
        mine = (group for group in groups if group.region is region and group.memory == memory)
        if facts and not any(group.join(access, facts, late) for group in mine):
            group = _Group(region, memory)
            groups += [group] if group.join(access, facts, late) else []
    return _without_cycles(tree, groups, followers)


def _without_cycles(tree: LoopTree, groups: list[_Group], followers: dict[Op, set[Op]]) -> list[Check]:
    """The checks of the groups. The accesses of a check wait for the addresses that it compares, so what it may compare
    also depends on the checks before it: a load may find an address, and wait for a condition that the other loads."""
    found: list[Check] = []
    for group in groups:
        beside = [check for check in found if check.region is group.region]
        if beside:
            waiting = [(check.operands, check.accesses) for check in beside]
            group.behind |= behind(group.region, group.accesses, followers, waiting)
        addresses = {fact.src.operands[0] for fact in group.facts}
        if group.behind.isdisjoint(addresses.union(*map(_asking, group.accesses))):
            found.append(_check(tree, group))
    return found


def _asking(access: Op) -> list[Value]:
    """The operands of an access that the comparison needs: of a store, its predicate is not among them."""
    return access.operands[:2] if access.opcode == "load" else access.operands[:1]


def _check(tree: LoopTree, group: _Group) -> Check:
    stores = tuple(dict.fromkeys(fact.src for fact in group.facts))
    asks = tuple(
        tuple(dict.fromkeys(stores.index(fact.src) for fact in group.facts if fact.dst is access))
        for access in group.accesses
    )
    outermost = min((tree.loops[present(fact.loop)] for fact in group.facts), key=lambda loop: len(loop.path))
    path = tree.around(group.accesses[0])

    def early(op: Op) -> bool:
        return predicate(op) not in group.behind

    return Check(
        group.region,
        tuple(group.accesses),
        asks,
        tuple(map(early, group.accesses)),
        stores,
        tuple(map(early, stores)),
        tuple(group.facts),
        path[path.index(outermost) + 1 :],
    )
