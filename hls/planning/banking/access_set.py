"""What the planner is told: the accesses of one memory, and what the program asks of it."""

from collections.abc import Hashable
from dataclasses import dataclass

from rtl_lib.mem.pumped import MOST_WRITES, most_reads

__all__ = ["Asked", "Unknown", "Use"]


@dataclass(frozen=True)
class Unknown:
    """A number that a byte address is made of, from ``low`` to ``high``. Two of the same name and bounds are one."""

    name: Hashable
    low: int
    high: int
    unbound: bool = False  #: nothing is known, and ``low`` and ``high`` mean nothing

    @property
    def count(self) -> int:
        """How many values it can have."""
        return self.high - self.low + 1


@dataclass(frozen=True)
class Use:
    """One access of the memory: ``bytes`` at the byte address ``const`` + the sum of factor times unknown; the address
    is a multiple of ``bytes``, a power of two.

    Accesses with the same ``row`` take place for one token, and may be given the same cycle: their unknowns of one name
    then have one value. Of those that ``excludes`` names, by their keys, none takes place when this one does for the
    same token. ``after`` names accesses of the row that this one depends on.
    """

    key: Hashable
    stores: bool
    bytes: int
    const: int
    terms: tuple[tuple[Unknown, int], ...] = ()
    row: Hashable = None
    excludes: frozenset = frozenset()
    after: frozenset = frozenset()
    loads: bool = False  #: only to be given where it ``stores``, too
    #: const and terms in other forms, each beside the largest modulus
    wider: tuple[tuple[int, int, tuple[tuple[Unknown, int], ...]], ...] = ()
    #: for which it has no unknown without bounds: of more and more sums that wrap it knows that they stay within a
    #: power of two
    watches: bool = False  #: a load that looks at what is being stored, which it can in one bank only
    near: bool = False  #: it does so in the loop that both are in, which is the slower if it cannot
    paced: bool = False  #: whether a loop inside sets the pace of its row
    #: its address, but for multiples of the memory's size, in each iteration, where that is known, -1 where it does
    places: tuple[int, ...] = ()
    #: not take place: in an order that all of a row have in common
    #: accesses with which it is never at one bank in one cycle, whatever tokens make them
    alone: frozenset = frozenset()

    def form(self, modulus: int) -> tuple[int, tuple[tuple[Unknown, int], ...]]:
        """Const and terms of the address as they tell most about it modulo a power of two; without terms that do not
        matter."""
        unbound = any(unknown.unbound and factor % modulus for unknown, factor in self.terms)
        others = ((const, terms) for limit, const, terms in self.wider if limit >= modulus) if unbound else iter(())
        const, terms = next(others, (self.const, self.terms))
        return const, tuple(term for term in terms if term[1] % modulus)

    @property
    def reads(self) -> bool:
        return self.loads or not self.stores


@dataclass(frozen=True)
class Asked:
    """What the program asks of one memory, by its attributes; None: nothing. ``bank_bits`` are bits of the number of a
    word of ``bankwidth`` bytes, the most significant bit of the bank first."""

    numbanks: int | None = None
    bankwidth: int | None = None
    bank_bits: tuple[int, ...] | None = None
    max_replicates: int | None = None
    numreadports: int | None = None
    numwriteports: int | None = None
    skew: bool = True  #: whether banks may be skewed
    pumped: bool = False  #: whether its blocks run at twice the clock
    #: writes of a cycle that its blocks are made for: 0 where it is never written, 2 only where it is ``pumped``
    writes: int = 1

    may_add_writes: bool = False  #: whether blocks may be made for more writes where that saves turns

    @property
    def geometry(self) -> bool:
        """Whether the program says which banks there are."""
        return self.numbanks is not None or self.bank_bits is not None

    @property
    def replicas(self) -> int | None:
        """The most loads that may read a bank at once."""
        copies = self.max_replicates
        if self.pumped and copies is not None:
            copies *= most_reads(self.writes < MOST_WRITES, self.writes)
        limits = [n for n in (copies, self.numreadports) if n is not None]
        return min(limits, default=None)
