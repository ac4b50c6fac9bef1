"""Bank conflicts: which accesses may use the same bank at the same time, found by enumerating their possible addresses.

The bank of an address depends on its lowest bits alone, so it is enough to look at sums modulo a power of two: of an
unknown with factor f only as many values matter as f has different multiples. Where these are few, all are tried.
Otherwise the terms that all addresses have in common count as one unknown, any multiple of their common divisor. Where
that is still too much, two accesses are assumed to conflict.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from math import gcd, prod

import numpy as np

from rtl_lib.mem.bank_map import BankMap

from ...narrow import present
from .access_set import Unknown, Use

__all__ = ["Meetings"]

#: unknowns with their factors
Terms = tuple[tuple[Unknown, int], ...]

#: limit of the combinations of values that are enumerated
MOST = 1 << 13
#: values of each unknown that are sampled before all are enumerated
TRIED = 32
#: numbers are sorted by counting them if they are below so many times their number
COUNTED = 8
#: sets of sums that are kept
KEPT = 1024
#: an odd number whose multiples scatter these samples
STRIDE = 2654435761


class Meetings:
    """The conflict table of one memory: answers which of its accesses may conflict, in banks of words of
    ``word_bytes``, a power of two."""

    def __init__(self, uses: Sequence[Use], map: BankMap, word_bytes: int) -> None:
        self.map, self.word_bytes = map, word_bytes
        self.modulus = word_bytes << map.reach
        whole = {use.key: use.terms for use in uses}
        self._places = {use.key: use for use in uses}  #: their arrays are shared by the tables of all bank maps
        forms = ((use, use.form(self.modulus)) for use in uses)
        uses = [replace(use, const=const, terms=terms) for use, (const, terms) in forms]
        self.uses = {use.key: use for use in uses}
        alike: dict[tuple, list[Use]] = {}
        for use in uses:
            alike.setdefault(use.terms, []).append(use)
        groups = [
            _Alike(members, _sums_of(terms, self.modulus), map, word_bytes, [whole[use.key] for use in members])
            for terms, members in alike.items()
        ]
        self._group = {use.key: group for group in groups for use in group.members}
        self._masks = {use.key: group.masks[k] for group in groups for k, use in enumerate(group.members)}
        self._pairs: dict = {}
        self._in_turn: dict[Hashable, dict[Hashable, tuple[int, int]]] = {}

    def banks(self, key: Hashable) -> frozenset[int]:
        """All banks that an access may use."""
        mask = self._masks[key]
        return frozenset(k for k in range(mask.bit_length()) if mask >> k & 1)

    def mask(self, key: Hashable) -> int:
        """The same as a bit mask."""
        return self._masks[key]

    def never(self, one: Hashable, other: Hashable) -> bool:
        """Whether two accesses never use the same bank, at any time."""
        return not self._masks[one] & self._masks[other]

    def alike(self, one: Hashable, other: Hashable) -> bool:
        """Whether the distance of two accesses is a constant."""
        return self._group[one] is self._group[other]

    def apart(self, one: Hashable, other: Hashable) -> bool:
        """Whether two accesses of one token may be scheduled in the same cycle: they then use different banks, or one
        word of a bank without storing the same bytes, or only one of them executes."""
        if not self._masks[one] & self._masks[other]:
            return True
        first, second = self.uses[one], self.uses[other]
        if self._exclude(first, second):
            return True
        if self._in_other_banks(first, second):
            return True
        if self._group[one] is self._group[other]:
            return self._group[one].apart(one, other, first.stores or second.stores)
        if (self._tried[one] == self._tried[other]).any():
            return False
        key = first.const % self.modulus, second.const % self.modulus, first.terms, second.terms
        if key not in self._pairs:
            values = self.values([first, second])
            self._pairs[key] = (
                values is not None
                and not (self.bank(values[0] + first.const) == self.bank(values[1] + second.const)).any()
            )
        return self._pairs[key]

    def _in_other_banks(self, one: Use, other: Use) -> bool:
        """Whether two accesses of one row whose addresses are known use different banks in each iteration."""
        if not (one.places and other.places and one.row == other.row):
            return False
        if one.row not in self._in_turn:
            self._in_turn[one.row] = self._others_in_turn(one.row)
        here = self._in_turn[one.row]
        return bool(here[one.key][1] >> here[other.key][0] & 1)

    def _others_in_turn(self, row: Hashable) -> dict[Hashable, tuple[int, int]]:
        """For each access of a row whose addresses are known: its number, and the bit mask of those with which it uses
        different banks in each iteration."""
        keys = [use.key for use in self.uses.values() if use.places and use.row == row]
        banks = np.stack([self._banks_in_turn(key) for key in keys])
        clear = (~((banks == banks[k]) & (banks[k] >= 0)).any(axis=1) for k in range(len(keys)))
        return {key: (k, _bits(mask)) for k, (key, mask) in enumerate(zip(keys, clear, strict=True))}

    def _banks_in_turn(self, key: Hashable) -> np.ndarray:
        """The bank of an access in each iteration, -1 where it does not execute."""
        places = self._places[key].places_array
        return np.where(places < 0, -1, self.bank(places)).astype(np.int32)

    @cached_property
    def _tried(self) -> dict:
        """For each access its bank for some sampled values of all unknowns: most conflicts show up there."""
        numbers: dict[Unknown, int] = {}
        found = {}
        for use in self.uses.values():
            total = np.full(TRIED, use.const % self.modulus, np.int64)
            for unknown, factor in use.terms:
                number = numbers.setdefault(unknown, len(numbers))
                total += (
                    _some(unknown.low, unknown.count, number, self.modulus) * (factor % self.modulus) % self.modulus
                )
            found[use.key] = self.bank(total % self.modulus)
        return found

    def compatible(self, uses: Sequence[Use], far: bool = True) -> list[int]:
        """For each of the uses, all of which store or none, the bit mask of those with which it may share a cycle.
        Without ``far``, accesses at no constant distance may only if they never use the same bank."""
        groups: dict = {}
        for k, use in enumerate(uses):
            groups.setdefault(self._group[use.key], []).append(k)
        found = [0] * len(uses)
        for group, members in groups.items():
            table = group.table(bool(uses[0].stores))
            if (
                len(groups) == 1
                and members == [group.index(use.key) for use in uses]
                and not any(use.excludes or use.places for use in uses)
            ):
                # the usual case: the table's order is that of the uses
                return [row & (1 << len(uses)) - 1 for row in table[: len(uses)]]
            places = [(j, uses[j], group.index(uses[j].key)) for j in members]
            special = [(j, other) for j, other, _ in places if other.excludes or other.places]
            for k, use, place in places:
                row = table[place]
                bits = sum(1 << j for j, _, at in places if row >> at & 1)
                # where neither has exclusions or known places, the table says all
                for j, other in ((j, other) for j, other, _ in places) if use.excludes or use.places else special:
                    if not bits >> j & 1 and (self._exclude(other, use) or self._in_other_banks(other, use)):
                        bits |= 1 << j
                found[k] |= bits
        for k, use in enumerate(uses if len(groups) > 1 else ()):
            for j in range(k):
                other = uses[j]
                if self._group[use.key] is not self._group[other.key] and (
                    self.apart(use.key, other.key) if far else self.never(use.key, other.key)
                ):
                    found[k], found[j] = found[k] | 1 << j, found[j] | 1 << k
        return found

    def _exclude(self, one: Use, other: Use) -> bool:
        return other.key in one.excludes or one.key in other.excludes

    def bank(self, addresses: np.ndarray) -> np.ndarray:
        """The bank of each byte address."""
        return self.map.bank(addresses >> self.word_bytes.bit_length() - 1)

    def values(self, uses: Sequence[Use]) -> list[np.ndarray] | None:
        """For each access the sums of its terms, in all combinations of values; None where there are too many."""
        return _values([use.terms for use in uses], self.modulus)


@cache
def _some(low: int, count: int, number: int, modulus: int) -> np.ndarray:
    """Some of ``count`` numbers from ``low`` on, modulo ``modulus``; different ones for each ``number``."""
    return np.array([(low + (k * (2 * number + 1) * STRIDE >> 8) % count) % modulus for k in range(TRIED)], np.int64)


def _bits(flags: np.ndarray) -> int:
    """The flags as a bit mask."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


class _Alike:
    """Accesses whose addresses differ by constants modulo the banks, with the ``masks`` of their banks. ``sums`` are
    those of the terms that they have in common, None for too many, and ``whole`` the terms of each, of which none was
    dropped."""

    def __init__(
        self, members: list[Use], sums: np.ndarray | None, map: BankMap, word_bytes: int, whole: list[Terms]
    ) -> None:
        self.map, self.word_bytes, self.members, self._whole = map, word_bytes, members, whole
        self._index = {use.key: k for k, use in enumerate(members)}
        self._tables: dict[bool, list[int]] = {}
        if sums is None:
            self.masks, self._addresses = [(1 << map.banks) - 1] * len(members), None
            return
        consts = np.array([use.const for use in members], np.int64)[:, None]
        self._addresses = sums + consts
        self._shift = word_bytes.bit_length() - 1
        self._banks = map.bank(self._addresses >> self._shift)
        self.masks = [sum(1 << bank for bank in np.flatnonzero(np.bincount(row)).tolist()) for row in self._banks]

    def apart(self, one, other, stores: bool) -> bool:
        """Whether two members may share a cycle."""
        return bool(self.table(stores)[self._index[one]] >> self._index[other] & 1)

    def index(self, key) -> int:
        """The index of a member in the tables."""
        return self._index[key]

    def table(self, stores: bool) -> list[int]:
        """For each member the bit mask of others with which it may share a cycle."""
        if self._addresses is None:
            return [0] * len(self.members)
        if stores not in self._tables:
            self._tables[stores] = self._table(stores)
        return self._tables[stores]

    def _table(self, stores: bool) -> list[int]:
        banks, addresses, count = self._banks, present(self._addresses), len(self.members)
        flags = 1 << banks.astype(object) if self.map.banks > 62 else np.left_shift(1, banks)
        if (np.bitwise_or.reduce(flags) == flags.sum(axis=0)).all():  # all in different banks
            return [(1 << count) - 1 & ~(1 << k) for k in range(count)]
        words, banks = addresses >> self._shift, banks.astype(np.int32)
        # two words are known to be the same only if no term was dropped
        numbers = {terms: number for number, terms in enumerate(dict.fromkeys(self._whole))}
        kinds = np.array([numbers[terms] for terms in self._whole])
        ends = addresses[:, 0] + np.array([use.bytes for use in self.members], np.int64)
        # their distances are constants: those of the first addresses
        starts = addresses[:, 0]
        clear = np.ones((count, count), bool)
        masks = np.array(self.masks, object if self.map.banks > 62 else np.int64)
        for k in range(count):  # with those behind it: two members meet each other
            near = k + np.flatnonzero(masks[k:] & masks[k])
            fine = kinds[near] == kinds[k]
            if stores:
                fine &= (ends[near] <= starts[k]) | (ends[k] <= starts[near])
            for members, one_word in ((near[fine], True), (near[~fine], False)):
                meets = banks[members] == banks[k]
                if one_word:
                    meets &= words[members] != words[k]
                clear[k, members] = clear[members, k] = ~meets.any(axis=1)
        return [_bits(row) for row in clear]


def _values(forms: Sequence[Terms], modulus: int) -> list[np.ndarray] | None:
    """For each of the forms the sums of its terms, in all combinations of values; None where there are too many."""
    factors: dict[Unknown, list[int]] = {}
    for k, terms in enumerate(forms):
        for unknown, factor in terms:
            factors.setdefault(unknown, [0] * len(forms))[k] += factor
    axes = [axis for unknown, row in factors.items() if (axis := _Axis.of(unknown, tuple(row), modulus)).count > 1]
    if prod(axis.count for axis in axes) > MOST:
        axes = _joined(axes, modulus)
    if prod(axis.count for axis in axes) > MOST:
        return None
    sums = [np.zeros(1, np.int64) for _ in forms]
    for axis in axes:
        sums = [
            np.add.outer(total, axis.values * factor).reshape(-1)
            for total, factor in zip(sums, axis.factors, strict=True)
        ]
    return sums


def _sums_of(terms: Terms, modulus: int) -> np.ndarray | None:
    """The different sums of the terms modulo a power of two, in order; None where there are too many."""
    factors: dict[Unknown, int] = {}
    for unknown, factor in terms:
        factors[unknown] = factors.get(unknown, 0) + factor
    return _different_sums(tuple((one.low, one.high, factor) for one, factor in factors.items()), modulus)


@lru_cache(maxsize=KEPT)  # bank maps of one reach share them, whatever the unknowns are
def _different_sums(ranges: tuple[tuple[int, int, int], ...], modulus: int) -> np.ndarray | None:
    """The same for unknowns of these bounds, each with its factor."""
    values = _values([tuple((Unknown(k, low, high), by) for k, (low, high, by) in enumerate(ranges))], modulus)
    if values is None:
        return None
    rest = values[0] % modulus
    found = np.flatnonzero(np.bincount(rest)) if modulus <= COUNTED * len(rest) else np.unique(rest)
    found.flags.writeable = False
    return found


class _Axis:
    """The relevant values of an unknown, with its factor in each access."""

    def __init__(self, factors: tuple[int, ...], low: int, count: int) -> None:
        self.factors, self.low, self.count = factors, low, count

    @classmethod
    def of(cls, unknown: Unknown, factors: tuple[int, ...], modulus: int) -> "_Axis":
        period = modulus // gcd(*factors, modulus)
        count = min(unknown.count, period)
        return cls(factors, unknown.low if count == unknown.count else 0, count)

    @cached_property
    def values(self) -> np.ndarray:
        return np.arange(self.low, self.low + self.count, dtype=np.int64)


def _joined(axes: list[_Axis], modulus: int) -> list[_Axis]:
    """Merges unknowns that have one factor for all accesses into one: any multiple of their common divisor."""
    same = [axis for axis in axes if len(set(axis.factors)) == 1]
    if len(same) < 2:
        return axes
    step = gcd(*(axis.factors[0] for axis in same), modulus)
    one = _Axis((step,) * len(same[0].factors), 0, modulus // step)
    return [axis for axis in axes if axis not in same] + [one]
