"""Which loads are checked at run time against earlier stores, because nobody knows beforehand whether they meet."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..analysis.dependence import Dependence, Kind
from ..analysis.loops import Loop, LoopTree
from ..ir import Op, Region, Value, lane_mask, walk

__all__ = ["MOST_CHECKED", "Check", "find_checks"]

#: from this distance on (iterations) counting iterations costs no more than looking at addresses
MOST_CHECKED = 128


@dataclass(frozen=True)
class Check:
    """Loads of one region that wait for stores of earlier iterations only where addresses are equal.

    ``certain`` says for each store whether its predicate is known with its address, without the loads. ``facts`` need no
    other order then; in ``loops`` runs must not mix, so that tokens come in program order.
    """

    region: Region
    loads: tuple[Op, ...]
    stores: tuple[Op, ...]
    certain: tuple[bool, ...]
    facts: tuple[Dependence, ...]
    loops: tuple[Loop, ...]


def find_checks(tree: LoopTree, known: Iterable[Dependence]) -> list[Check]:
    """Checks for reads after writes of other iterations, where the stores' addresses are known before the loads' answers."""
    known = tuple(known)
    wanted: dict[Op, list[Dependence]] = {}
    ruled_out = set()
    followers: dict[Op, set[Op]] = {}  #: what comes after an access in one iteration, by order
    for fact in known:
        if fact.loop is None:
            followers.setdefault(fact.src, set()).add(fact.dst)
        if lane_mask(fact.src) or lane_mask(fact.dst):
            continue  # begins and ends anywhere: more than one address to compare
        if fact.kind is not Kind.RAW or fact.overlap or tree.region_of(fact.src) is not tree.region_of(fact.dst):
            continue
        if fact.loop is None:
            ruled_out.add((fact.src, fact.dst))  # order within the iteration is another matter
        elif not fact.known or fact.distance < MOST_CHECKED:
            wanted.setdefault(fact.dst, []).append(fact)
    groups: list[tuple[list[Op], list[Dependence], set]] = []
    for load, facts in wanted.items():
        facts = [fact for fact in facts if (fact.src, load) not in ruled_out]
        answered = _behind(tree.region_of(load), load, followers)
        if facts and not any(fact.src.operands[0] in answered for fact in facts):
            _join(groups, tree, load, facts, answered)
    return [_check(tree, *group) for group in groups]


def _join(groups, tree: LoopTree, load: Op, facts: list[Dependence], answered: set[Value]) -> None:
    """Add the load to a group of its region and memory whose addresses do not depend on each other, or to a new one."""
    for loads, others, behind in groups:
        same = tree.region_of(loads[0]) is tree.region_of(load) and _memory(loads[0]) == _memory(load)
        apart = not behind.intersection(load.operands[:2]) and not any(
            answered.intersection(other.operands[:2]) for other in loads)
        late = any(fact.src.operands[0] in answered | behind for fact in (*facts, *others))
        if same and apart and not late:
            loads.append(load)
            others += facts
            behind |= answered
            return
    groups.append(([load], list(facts), set(answered)))


def _check(tree: LoopTree, loads: list[Op], facts: list[Dependence], answered: set[Value]) -> Check:
    stores = tuple(dict.fromkeys(fact.src for fact in facts))
    certain = tuple(store.operands[2] not in answered for store in stores)
    outermost = min((tree.loops[fact.loop] for fact in facts), key=lambda loop: len(loop.path))
    path = tree.around(loads[0])
    return Check(tree.region_of(loads[0]), tuple(loads), stores, certain, tuple(facts), path[path.index(outermost) + 1:])


def _behind(region: Region, load: Op, followers: dict[Op, set[Op]]) -> set[Value]:
    """Values of the region that are known only behind the load: because they are computed from it, or read behind a store that
    must stay behind it or stores what is."""
    found, later = {load.result}, set()
    for op in region.ops:
        inner = [op, *(one for body in op.regions for one in walk(body))]
        if op is load or later.intersection(inner) or found.intersection(v for one in inner for v in one.operands):
            found.update(op.results)
            later.update(*(followers.get(one, ()) for one in inner))
    return found


def _memory(access: Op) -> str:
    return access.operands[0].op.attrs["mem"]
