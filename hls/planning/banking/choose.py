"""Chooses the banks of a memory: by its attributes, or the cheapest banks that serialize its stores least."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any, NamedTuple

from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.pumped import MOST_WRITES

from ...narrow import present
from .access_set import Asked, Use
from .conflicts import Meetings
from .ports import Turns, classes, components, store_turns
from .pumping import share_blocks
from .ram_blocks import CELLS_OF_BLOCK, Blocks
from .refusal import Refusal, check

__all__ = ["Banking", "Copies", "choose_banks"]

#: bank maps with more banks are not tried, as there are too many; the cost of multiplexers is part of each map's cost
MOST_BANKS = 256


#: once a bank map serializes nothing, only maps of at most so many times as many banks are examined
ENOUGH = 4
#: a longer path from RAM to user counts as 1 / this of the area
LONGER_WAY = 4
#: multiplexer inputs that fit into a logic cell
INPUTS_OF_CELL = 3


class Copies(NamedTuple):
    """How many copies of a memory exist: one after the other in each bank or, if ``apart``, in banks of their own."""

    number: int
    apart: bool = False


ONE = Copies(1)


class Cost(NamedTuple):
    """The cost of a choice of banks, most important first: cycles for one token's stores (and for loads, where more
    copies are not allowed); loads that cannot watch what is being stored; such cycles summed over all rows that no
    inner loop limits; area in logic cells; banks; whether they are skewed or folded. The area is that of ``blocks`` and
    of multiplexers of ``chosen`` bits."""

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
    loads: tuple[tuple[Hashable, ...], ...]  #: loads that may share a copy for reading if they start in one cycle
    reads: Mapping[Hashable, Hashable]  #: serialized loads, as no more copies are allowed, with their row
    cost: Cost
    asked: Asked

    def part(self, store: Hashable) -> int | None:
        """A number shared by the stores that may use the same banks; None for a store that shares none."""
        for number, members in enumerate(self.parts):
            if store in members:
                return number if len(members) > 1 else None
        return None

    @cached_property
    def parts(self) -> list[set[Any]]:
        """The sets of stores that may use the same banks, directly or through others."""
        return [
            {use.key for use in part}
            for part in components([u for u in self.meetings.uses.values() if u.stores], self.meetings)
        ]

    def banks(self, key: Hashable) -> frozenset[int]:
        """The banks that an access may use."""
        return self.meetings.banks(key)

    @property
    def together(self) -> Iterator[tuple[Hashable, ...]]:
        """Co-start groups: accesses that would conflict if they started in different cycles, and those of which one
        reserves a port for all."""
        yield from self.stores.together
        for group in self.loads:
            if group[0] in self.reads or any(
                not self.meetings.never(a, b) for k, a in enumerate(group) for b in group[k + 1 :]
            ):
                yield group


def choose_banks(size: int, uses: Sequence[Use], asked: Asked, blocks: Blocks, copies: Copies = ONE) -> Banking:
    """The banks of a memory of ``size`` bytes that exists in ``copies``. It gets a second write port if the program
    asks for it, or if the program does not say and banks alone do not give each store of a token a port of its own.
    Raises :class:`~hls.planning.banking.refusal.Refusal` for attributes that cannot be satisfied."""
    check(asked, size, uses)
    known: dict[BankMap, Meetings] = {}
    if asked.numwriteports is not None and asked.pumped and asked.writes:
        return _best(size, uses, replace(asked, writes=asked.numwriteports), blocks, copies, known)
    one = _best(size, uses, asked, blocks, copies, known)
    # an atomic operation stores some cycles after its start, and no other one may start in between
    if not asked.may_add_writes or one.cost.turns == 1 or any(use.loads and use.stores for use in uses):
        return one
    two = _best(size, uses, replace(asked, writes=MOST_WRITES), blocks, copies, known)
    return two if two.cost.turns < one.cost.turns else one


def _best(
    size: int, uses: Sequence[Use], asked: Asked, blocks: Blocks, copies: Copies, known: dict[BankMap, Meetings]
) -> Banking:
    """The cheapest banks. ``known`` is what earlier calls found of maps, whose conflicts do not depend on the ports."""
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
            break  # larger numbers of banks cost more and more
        if map not in known:
            known[map] = Meetings(uses, map, word)
        one = _judge(size, uses, asked, blocks, known[map], word, copies)
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
    return present(best)


def _astray(one: Banking) -> bool:
    """Whether an access that both loads and stores may use several banks."""
    return any(use.loads and one.meetings.mask(use.key).bit_count() > 1 for use in one.meetings.uses.values())


def _asked(asked: Asked) -> Iterator[BankMap]:
    bits = (
        asked.bank_bits if asked.bank_bits is not None else tuple(range((asked.numbanks or 1).bit_length() - 1))[::-1]
    )
    yield BankMap(bits)


def _judge(
    size: int, uses: Sequence[Use], asked: Asked, blocks: Blocks, meetings: Meetings, word: int, copies: Copies
) -> Banking:
    map = meetings.map
    turns = store_turns([use for use in uses if use.stores], meetings, max(1, asked.writes))
    rows = dict.fromkeys(use.row for use in uses if use.reads)
    groups = {row: _read_classes(uses, row, meetings) for row in rows}
    crowded = {row for row in rows if asked.replicas is not None and len(groups[row]) > asked.replicas}
    reads = {group[0].key: row for row in crowded for group in groups[row]}
    more = max((-(-len(groups[row]) // present(asked.replicas)) - 1 for row in crowded), default=0)
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
    """Block RAMs of a double-pumped bank that is read ``reads`` times at once."""
    shared = share_blocks(range(max(1, reads)), words, width, blocks, asked.writes, asked.max_replicates)
    return sum(blocks.count(words, width, dual) for _, dual in shared)


def _read_classes(uses: Sequence[Use], row: Hashable, meetings: Meetings) -> list[list[Use]]:
    """Loads of a row that may share copies. Only loads at constant distances are considered for one cycle, since their
    addresses are known at the same time. A load that waits for an earlier store must not make others wait, too."""
    here = [use for use in uses if use.reads and use.row == row]
    loads = [replace(use, stores=False) if use.stores else use for use in here]
    fine = meetings.compatible(loads, far=False)
    watching = sum(1 << k for k, use in enumerate(loads) if use.watches)
    if watching:
        masks = [meetings.mask(use.key) for use in loads]
        # few sets of banks are different
        meet = {one: sum(1 << j for j, other in enumerate(masks) if one & other) for one in set(masks)}
        for k, mask in enumerate(masks):
            fine[k] &= ~(meet[mask] if watching >> k & 1 else meet[mask] & watching)
    return classes(loads, fine)


def _read_ports(groups: list[list[Use]]) -> list[list[Use]]:
    """Groups of loads that may start in one cycle, merged where they never use a bank in the same cycle."""
    ports: list[list[Use]] = []
    for group in groups:
        home = next((port for port in ports if all(use.key in other.alone for use in group for other in port)), None)
        if home is None:
            ports.append(list(group))
        else:
            home += group
    return ports


def _banks_for(uses: Sequence[Use]) -> int:
    """The number of accesses of the row that has most, rounded up to a power of two: a bank for each."""
    rows = Counter((use.row, use.stores) for use in uses)
    return 1 << (max(rows.values(), default=1) - 1).bit_length()


def _candidates(uses: Sequence[Use], word: int, words: int) -> Iterator[BankMap]:
    """One bank first, then bank maps suggested by strides and distances of the accesses. Where some accesses are
    conditional, it is hard to predict which banks keep them apart, so twice as many are tried."""
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
    """The powers of two, in words, in the strides of the accesses and in the distances between accesses of one
    token."""
    rows: dict[Any, Any] = {}
    for use in uses:
        rows.setdefault((use.row, use.terms), []).append(use.const)
    groups = [{factor for use in uses for _, factor in use.terms}]
    groups += [{const - consts[0] for const in consts} for consts in rows.values()]
    found: set[int] = set()
    for numbers in groups:
        powers = {(n & -n).bit_length() - word.bit_length() for n in numbers if n}
        # of adjacent bits, keep the lowest only
        found |= {n for n in powers if 0 <= n < top and n - 1 not in powers}
    return found
