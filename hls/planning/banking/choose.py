"""Which banks a memory gets: by its attributes, or the cheapest with which its stores take the fewest turns."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.pumped import MOST_WRITES

from .access_set import Asked, Use
from .conflicts import Meetings
from .ports import Turns, classes, components, store_turns
from .pumping import share_blocks
from .ram_blocks import CELLS_OF_BLOCK, Blocks
from .refusal import Refusal, check

__all__ = ["Banking", "Copies", "choose_banks"]

#: beyond this many banks choosing among them costs more than turns
MOST_BANKS = 64


#: where everything takes one turn, no more banks than so many times as many are looked at
ENOUGH = 4
#: what a longer way from RAM to user stands for: such a part of the area
LONGER_WAY = 4
#: inputs of a choice that a logic cell takes
INPUTS_OF_CELL = 3


class Copies(NamedTuple):
    """How often a memory is there: behind one another in each bank, or, if they are ``apart``, in banks of their
    own."""

    number: int
    apart: bool = False


ONE = Copies(1)


class Cost(NamedTuple):
    """What a choice of banks costs, what counts most first: cycles for one token's stores (and for loads, where there
    may be no more copies), loads that cannot look at what is being stored, such cycles of all rows that set their pace
    themselves, area in logic cells, banks, whether they are skewed or folded. The area is that of ``blocks`` and of
    ``chosen`` bits that are chosen among."""

    turns: int
    blind: int
    others: int
    area: int
    banks: int
    moved: bool
    blocks: int
    chosen: int


@dataclass(frozen=True)
class Banking:
    """The banks of one memory and how its accesses use them."""

    map: BankMap
    word_bytes: int
    meetings: Meetings
    stores: Turns
    loads: tuple[tuple[Hashable, ...], ...]  #: what may share a copy for reading if it starts in one cycle
    reads: Mapping[Hashable, Hashable]  #: loads that take turns, because there may be no more copies, by their row
    cost: Cost
    asked: Asked

    def part(self, store: Hashable) -> int | None:
        """A number that stores have in common which may use the same banks; None for one that shares none."""
        for number, members in enumerate(self.parts):
            if store in members:
                return number if len(members) > 1 else None
        return None

    @cached_property
    def parts(self) -> list[set]:
        """The stores that may use the same banks, directly or by way of others."""
        return [
            {use.key for use in part}
            for part in components([u for u in self.meetings.uses.values() if u.stores], self.meetings)
        ]

    def banks(self, key: Hashable) -> frozenset[int]:
        """The banks that an access may use."""
        return self.meetings.banks(key)

    @property
    def together(self) -> Iterator[tuple[Hashable, ...]]:
        """Accesses that are to start in one cycle: those that would meet if they did not, and those of which one keeps
        a port for all."""
        yield from self.stores.together
        for group in self.loads:
            if group[0] in self.reads or any(
                not self.meetings.never(a, b) for k, a in enumerate(group) for b in group[k + 1 :]
            ):
                yield group


def choose_banks(size: int, uses: Sequence[Use], asked: Asked, blocks: Blocks, copies: Copies = ONE) -> Banking:
    """The banks of a memory of ``size`` bytes, which is there in ``copies``; with a second port for writing where the
    program asks for it, or says nothing of it and banks alone do not give each store of a token one for itself. Raises
    :class:`~hls.planning.banking.refusal.Refusal` for attributes that cannot be followed."""
    check(asked, size, uses)
    if asked.numwriteports is not None and asked.pumped and asked.writes:
        return _best(size, uses, replace(asked, writes=asked.numwriteports), blocks, copies)
    one = _best(size, uses, asked, blocks, copies)
    # an atomic operation stores cycles behind its start, and no other one may start between
    if not asked.may_add_writes or one.cost.turns == 1 or any(use.loads and use.stores for use in uses):
        return one
    two = _best(size, uses, replace(asked, writes=MOST_WRITES), blocks, copies)
    return two if two.cost.turns < one.cost.turns else one


def _best(size: int, uses: Sequence[Use], asked: Asked, blocks: Blocks, copies: Copies) -> Banking:
    word = max(asked.bankwidth or 1, *(use.bytes for use in uses))
    words = -(-size // word)
    best = None
    for map in _asked(asked) if asked.geometry else _candidates(uses, word, words):
        if map.skew is not None and not asked.skew:
            continue
        if (
            best is not None
            and best.cost[:2] == (1, 0)
            and (map.banks > ENOUGH * best.map.banks or map.banks > _banks_for(uses))
        ):
            break  # more and more banks cost more and more
        one = _judge(size, uses, asked, blocks, map, word, copies)
        if _astray(one) and map.bits:
            if asked.geometry:
                raise Refusal(
                    "numbanks" if asked.bank_bits is None else "bank_bits",
                    "an atomic operation needs forwarding from stores, which works within one bank, and its bank is "
                    "not known here",
                    "remove the attribute",
                )
            continue
        best = one if best is None or one.cost < best.cost else best
    return best


def _astray(one: Banking) -> bool:
    """Whether an access that loads and stores at once may use several banks."""
    return any(use.loads and one.meetings.mask(use.key).bit_count() > 1 for use in one.meetings.uses.values())


def _asked(asked: Asked) -> Iterator[BankMap]:
    bits = (
        asked.bank_bits if asked.bank_bits is not None else tuple(range((asked.numbanks or 1).bit_length() - 1))[::-1]
    )
    yield BankMap(bits)


def _judge(
    size: int, uses: Sequence[Use], asked: Asked, blocks: Blocks, map: BankMap, word: int, copies: Copies
) -> Banking:
    meetings = Meetings(uses, map, word)
    turns = store_turns([use for use in uses if use.stores], meetings, max(1, asked.writes))
    rows = dict.fromkeys(use.row for use in uses if use.reads)
    groups = {row: _read_classes(uses, row, meetings) for row in rows}
    crowded = {row for row in rows if asked.replicas is not None and len(groups[row]) > asked.replicas}
    reads = {group[0].key: row for row in crowded for group in groups[row]}
    more = max((-(-len(groups[row]) // asked.replicas) - 1 for row in crowded), default=0)
    touched = [
        reduce(or_, (meetings.mask(use.key) for use in port))
        for port in _read_ports([group for row in rows for group in groups[row]])
    ]
    blind = sum(use.watches and meetings.mask(use.key).bit_count() > 1 for use in uses)
    words = map.words(-(-size // word))
    words, times = (words, copies.number) if copies.apart else (words * copies.number, 1)
    chosen = sum(8 * word * (meetings.mask(use.key).bit_count() - 1) for use in uses)
    if asked.pumped:
        taken = [
            _pumped(sum(mask >> bank & 1 for mask in touched), words, 8 * word, blocks, asked)
            for bank in range(map.banks)
        ] * times
        rams, area = sum(taken), CELLS_OF_BLOCK * sum(taken)
    else:
        times *= sum(mask.bit_count() for mask in touched)
        rams, area = times * blocks.count(words, 8 * word), times * blocks.area(words, 8 * word)
    area += chosen // INPUTS_OF_CELL
    area += area // LONGER_WAY if chosen else 0
    moved = map.skew is not None or map.fold is not None
    cost = Cost(
        turns=turns.most + more,
        blind=blind,
        others=turns.total,
        area=area,
        banks=map.banks,
        moved=moved,
        blocks=rams,
        chosen=chosen,
    )
    shared = tuple(tuple(use.key for use in group) for row in rows for group in groups[row] if len(group) > 1)
    return Banking(
        map=map, word_bytes=word, meetings=meetings, stores=turns, loads=shared, reads=reads, cost=cost, asked=asked
    )


def _pumped(reads: int, words: int, width: int, blocks: Blocks, asked: Asked) -> int:
    """Block RAMs of a bank that is read ``reads`` times at once, at twice the clock."""
    shared = share_blocks(range(max(1, reads)), words, width, blocks, asked.writes, asked.max_replicates)
    return sum(blocks.count(words, width, dual) for _, dual in shared)


def _read_classes(uses: Sequence[Use], row: Hashable, meetings: Meetings) -> list[list[Use]]:
    """Loads of a row that may share copies. Only those at constant distances are looked for in one cycle: their
    addresses are there at the same time. One that waits for an earlier store must not make others wait, too."""
    here = [use for use in uses if use.reads and use.row == row]
    loads = [replace(use, stores=False) if use.stores else use for use in here]
    fine = meetings.compatible(loads, far=False)
    watching = any(use.watches for use in loads)
    for k, use in enumerate(loads if watching else ()):
        for j, other in enumerate(loads):
            if (use.watches or other.watches) and not meetings.never(use.key, other.key):
                fine[k] &= ~(1 << j)
    return classes(loads, fine)


def _read_ports(groups: list[list[Use]]) -> list[list[Use]]:
    """Groups of loads that may start in one cycle, joined where they are never at a bank in one cycle."""
    ports: list[list[Use]] = []
    for group in groups:
        home = next((port for port in ports if all(use.key in other.alone for use in group for other in port)), None)
        if home is None:
            ports.append(list(group))
        else:
            home += group
    return ports


def _banks_for(uses: Sequence[Use]) -> int:
    """A bank for each access of the row that has most, rounded up to a power of two."""
    rows = Counter((use.row, use.stores) for use in uses)
    return 1 << (max(rows.values(), default=1) - 1).bit_length()


def _candidates(uses: Sequence[Use], word: int, words: int) -> Iterator[BankMap]:
    """One bank first, then what strides and distances of the accesses suggest. Where some seldom take place it is a
    matter of luck which banks keep them from meeting, so that twice as many are tried."""
    yield BankMap()
    known = any(use.places for use in uses)
    most = min(MOST_BANKS, words, _banks_for(uses) << known)
    top = (words - 1).bit_length()
    places = sorted({0, *_strides(uses, word, top)})
    for count in range(1, most.bit_length()):
        lows = [low for low in sorted({*places, top - count}) if 0 <= low <= top - count]
        for low in lows:
            yield BankMap(_field(low, count))
            yield from (BankMap(_field(low, count), skew) for skew in places if low + count <= skew < top)
        for high in range(top) if known else places:  # two dimensions: rows and columns have bits of their own
            yield from (
                BankMap(_field(high, upper) + _field(0, count - upper))
                for upper in range(1, count)
                if count - upper <= high <= top - upper
            )
        if count < top and known and not any(use.near for use in uses):
            yield BankMap(_field(0, count), fold=(count, top))


def _field(low: int, count: int) -> tuple[int, ...]:
    return tuple(range(low + count - 1, low - 1, -1))


def _strides(uses: Sequence[Use], word: int, top: int) -> set[int]:
    """The powers of two, of words, in the strides of the accesses and in the distances of those for one token from each
    other."""
    rows: dict = {}
    for use in uses:
        rows.setdefault((use.row, use.terms), []).append(use.const)
    groups = [{factor for use in uses for _, factor in use.terms}]
    groups += [{const - consts[0] for const in consts} for consts in rows.values()]
    found: set[int] = set()
    for numbers in groups:
        powers = {(n & -n).bit_length() - word.bit_length() for n in numbers if n}
        # of a run of neighbours the least stands for all
        found |= {n for n in powers if 0 <= n < top and n - 1 not in powers}
    return found
