"""Port sharing: before the schedule, what should share a cycle; after it, what never conflicts."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from .access_set import Use
from .conflicts import Meetings

__all__ = ["Turns", "When", "WritePort", "assign_ports", "classes", "components", "store_turns"]


Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class When:
    """When an access executes: in ``cycle`` of a pipeline ``level`` whose tokens enter a multiple of ``spacing`` cycles
    apart. Everything in its ``step`` of the program begins only after the steps in ``behind`` have ended. An access
    ``ahead`` may be speculative, and then executes at any time."""

    level: Hashable
    cycle: int
    spacing: int = 1
    step: Hashable = None
    behind: frozenset[Any] = frozenset()
    ahead: bool = False


class WritePort(NamedTuple):
    """A port of the banks of a ``part``, which some stores of one row share, used in a ``turn`` of their blocks: of two
    writes in the same cycle, that of the first turn takes effect first."""

    part: int
    turn: int


@dataclass(frozen=True)
class Turns:
    """How stores share ports. Of the stores with one ``port`` one may start in a cycle. Those in one of ``together``
    start in the same cycle, and only the first of them is in ``port``."""

    port: Mapping[Hashable, WritePort]
    together: tuple[tuple[Hashable, ...], ...]
    most: int  #: cycles that the port with most stores takes for one token
    total: int  #: the sum of that over rows; without rows whose rate an inner loop limits
    turn: Mapping[Hashable, int]  #: of each store, the turn in which it writes


def classes(uses: Sequence[Use], compatible: Sequence[int]) -> list[list[Use]]:
    """Partitions the accesses into classes in which all are pairwise ``compatible`` (a bit mask of indices for each)
    and none comes after another."""
    place = {use.key: k for k, use in enumerate(uses)}
    behind = [sum(1 << place[key] for key in use.after if key in place) for use in uses]
    found: list[list[int]] = []
    members: list[int] = []  # members of each class, as bit masks
    for k in range(len(uses)):
        fits = (
            n
            for n, bits in enumerate(members)
            if not bits & ~compatible[k] and not bits & behind[k] and not any(behind[j] >> k & 1 for j in found[n])
        )
        home = next(fits, None)
        if home is None:
            home = len(found)
            found.append([])
            members.append(0)
        found[home].append(k)
        members[home] |= 1 << k
    return [[uses[k] for k in each] for each in found]


def components(uses: Iterable[Use], meetings: Meetings) -> list[list[Use]]:
    """Partitions the accesses into parts that never use a bank of another part."""
    found: list[tuple[int, list[Use]]] = []
    for use in uses:
        members: list[Use] = []
        banks, rest = meetings.mask(use.key), []
        for part in found:
            if part[0] & banks:
                banks, members = banks | part[0], members + part[1]
            else:
                rest.append(part)
        found = [*rest, (banks, [*members, use])]
    return [part for _, part in found]


def store_turns(stores: Sequence[Use], meetings: Meetings, ports: int = 1) -> Turns:
    """How stores share the write ports of each bank. Stores of different rows never conflict: memory order keeps them
    apart, or a port reservation.

    Those of a row use all ports in program order, so that the first of a cycle is the earlier one. Rows that need one
    port take one each, so that port reservations wait less. Stores of a row that never use each other's banks, directly
    or through others of the row, are independent.
    """
    port: dict[Hashable, WritePort] = {}
    turn: dict[Hashable, int] = {}
    together: list[tuple[Hashable, ...]] = []
    most, paced = {use.row: 1 for use in stores}, {use.row for use in stores if use.paced}
    parts = components(stores, meetings)
    for number, part in enumerate(parts):
        alone = 0
        for row in dict.fromkeys(use.row for use in part):
            for inner, mine in enumerate(components([use for use in part if use.row == row], meetings)):
                here = _store_classes(mine, meetings)
                if len(here) == 1:
                    first, alone = alone % ports, alone + 1
                else:
                    first = 0
                for k, members in enumerate(here):
                    turn |= {use.key: (first + k) % ports for use in members}
                if len(part) > 1:
                    own = number + inner * len(parts)
                    port |= {members[0].key: WritePort(own, turn[members[0].key]) for members in here}
                together += [tuple(use.key for use in members) for members in here if len(members) > 1]
                most[row] = max(most[row], -(-len(here) // ports))
    return Turns(
        port,
        tuple(together),
        max(most.values(), default=1),
        sum(n for row, n in most.items() if row not in paced),
        turn,
    )


def _store_classes(stores: Sequence[Use], meetings: Meetings) -> list[list[Use]]:
    """The stores in classes that may start in one cycle."""
    # an access that stores some cycles after its start is serialized with all others
    late = [bool(use.loads) for use in stores]
    fine = [
        0 if late[k] else bits & ~sum(1 << j for j, it in enumerate(late) if it)
        for k, bits in enumerate(meetings.compatible(stores))
    ]
    return classes(stores, fine)


def assign_ports(meetings: Meetings, loads: Sequence[Key], when: Mapping[Key, When]) -> dict[Key, int]:
    """The number of the read port that an access gets in each of its banks: as few ports as first fit finds. Two
    accesses share one if they never use the same bank, or never in the same cycle."""
    ports: list[list[Key]] = []
    found = {}
    for key in loads:
        fits = [
            k for k, members in enumerate(ports) if all(_may_share(meetings, key, other, when) for other in members)
        ]
        if not fits:
            fits.append(len(ports))
            ports.append([])
        banks = meetings.banks(key)
        # where a bank has the port already, no further copy is needed
        best = min(fits, key=lambda k: (len(banks.difference(*(meetings.banks(other) for other in ports[k]))), k))
        ports[best].append(key)
        found[key] = best
    return found


def _may_share(meetings: Meetings, one: Key, other: Key, when: Mapping[Key, When]) -> bool:
    if meetings.never(one, other):
        return True
    first, second = when[one], when[other]
    if other in meetings.uses[one].alone and not (first.ahead or second.ahead):
        return True
    if first.level != second.level:
        return first.step in second.behind or second.step in first.behind
    if first.cycle == second.cycle:
        return meetings.apart(one, other)
    return (first.cycle - second.cycle) % first.spacing != 0
