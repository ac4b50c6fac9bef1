"""Which accesses are checked at run time against earlier stores, because nobody knows beforehand whether they meet."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...analysis.dependence.dependence import Dependence, Kind
from ...analysis.loops.forward_slice import behind
from ...analysis.loops.loop_tree import Loop, LoopTree
from ...ir import Op, Region, Value, lane_mask
from ...ir.accesses import memory_name, predicate

__all__ = ["MOST_CHECKED", "Check", "find_checks"]

#: pairs of an access and a store in one check with stores among the accesses: each is as many comparisons as the memory
#: takes cycles
MOST_PAIRS = 16
#: from this distance on (iterations) counting iterations costs no more than looking at addresses
MOST_CHECKED = 128


@dataclass(frozen=True)
class Check:
    """Accesses of one region that wait for stores of earlier iterations only where addresses are equal.

    ``asks`` gives for each of the ``accesses`` the numbers of the ``stores`` it is compared with, and ``known`` whether
    its predicate is known with its address, without the loads; ``certain`` says the same of the stores. ``facts`` need
    no other order then; in ``loops`` runs must not mix, so that tokens come in program order.
    """

    region: Region
    accesses: tuple[Op, ...]
    asks: tuple[tuple[int, ...], ...]
    known: tuple[bool, ...]
    stores: tuple[Op, ...]
    certain: tuple[bool, ...]
    facts: tuple[Dependence, ...]
    loops: tuple[Loop, ...]


@dataclass
class _Group:
    """Accesses of one region and memory whose addresses do not depend on each other's answers; ``behind`` are values
    that do."""

    region: Region
    memory: str
    accesses: list[Op] = field(default_factory=list)
    facts: list[Dependence] = field(default_factory=list)
    behind: set[Value] = field(default_factory=set)

    def join(self, access: Op, facts: list[Dependence], late: set[Value]) -> bool:
        """Add the access, which waits for the sources of the facts, if all addresses are known early enough then."""
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


def find_checks(tree: LoopTree, known: Iterable[Dependence]) -> list[Check]:
    """Checks for what comes after writes of other iterations, where the stores' addresses are known before the loads'
    answers."""
    known = tuple(known)
    wanted: dict[Op, list[Dependence]] = {}
    ruled_out = set()
    followers: dict[Op, set[Op]] = {}  #: what comes after an access in one iteration, by order
    for fact in known:
        if fact.loop is None:
            followers.setdefault(fact.src, set()).add(fact.dst)
        if lane_mask(fact.src) or lane_mask(fact.dst):
            continue  # begins and ends anywhere: more than one address to compare
        if fact.kind is Kind.WAR or fact.overlap or tree.region_of(fact.src) is not tree.region_of(fact.dst):
            continue
        if fact.loop is None:
            ruled_out.add((fact.src, fact.dst))  # order within the iteration is another matter
        elif fact.src is not fact.dst and (not fact.known or fact.distance < MOST_CHECKED):
            wanted.setdefault(fact.dst, []).append(fact)
    groups: list[_Group] = []
    for access, facts in wanted.items():
        facts = [fact for fact in facts if (fact.src, access) not in ruled_out]
        region, memory = tree.region_of(access), memory_name(access)
        late = behind(region, access, followers)
        mine = (group for group in groups if group.region is region and group.memory == memory)
        if facts and not any(group.join(access, facts, late) for group in mine):
            group = _Group(region, memory)
            groups += [group] if group.join(access, facts, late) else []
    return [_check(tree, group) for group in groups]


def _asking(access: Op) -> list[Value]:
    """What has to be known of an access before it is compared: a store may ask without being made."""
    return access.operands[:2] if access.opcode == "load" else access.operands[:1]


def _check(tree: LoopTree, group: _Group) -> Check:
    stores = tuple(dict.fromkeys(fact.src for fact in group.facts))
    asks = tuple(
        tuple(dict.fromkeys(stores.index(fact.src) for fact in group.facts if fact.dst is access))
        for access in group.accesses
    )
    outermost = min((tree.loops[fact.loop] for fact in group.facts), key=lambda loop: len(loop.path))
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
