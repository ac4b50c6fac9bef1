"""The planner's input: the accesses of one memory, and the attributes of the memory."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rtl_lib.mem.pumped import MOST_WRITES, most_reads

__all__ = ["Asked", "Unknown", "Use"]


@dataclass(frozen=True)
class Unknown:
    """A symbol in a byte address, with values from ``low`` to ``high``. Two of the same name and bounds are the same
    symbol."""

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
    """One access of the memory: ``bytes`` at the byte address ``const`` + the sum of factor times unknown. The address
    is a multiple of ``bytes``, a power of two.

    Accesses with the same ``row`` belong to the same token and may be scheduled in the same cycle: unknowns of one name
    then have the same value. ``excludes`` names, by their keys, accesses that do not execute for a token for which this
    one does. ``after`` names accesses of the row that this one depends on.
    """

    key: Hashable
    stores: bool
    bytes: int
    const: int
    terms: tuple[tuple[Unknown, int], ...] = ()
    row: Hashable = None
    excludes: frozenset[Any] = frozenset()
    after: frozenset[Any] = frozenset()
    loads: bool = False  #: only set where the access ``stores``, too
    #: const and terms in other forms, each with the largest modulus for which it has no unbounded unknown: they use
    #: that more and more wrapping sums stay within a power of two
    wider: tuple[tuple[int, int, tuple[tuple[Unknown, int], ...]], ...] = ()
    watches: bool = False  #: a load that watches what is being stored, which it can in one bank only
    near: bool = False  #: it does so in the loop that contains both, whose II is larger if it cannot
    paced: bool = False  #: whether an inner loop limits the rate of its row
    #: its address in each iteration, where that is known, without multiples of the memory's size; -1 where the access
    #: does not execute. All accesses of a row use the same order of iterations.
    places: tuple[int, ...] = ()
    #: accesses that never use the same bank in the same cycle as this one, whatever tokens execute them
    alone: frozenset[Any] = frozenset()

    def form(self, modulus: int) -> tuple[int, tuple[tuple[Unknown, int], ...]]:
        """Const and terms of the address in the form that is most precise modulo a power of two; irrelevant terms are
        left out."""
        unbound = any(unknown.unbound and factor % modulus for unknown, factor in self.terms)
        others = ((const, terms) for limit, const, terms in self.wider if limit >= modulus) if unbound else iter(())
        const, terms = next(others, (self.const, self.terms))
        return const, tuple(term for term in terms if term[1] % modulus)

    @cached_property
    def places_array(self) -> np.ndarray:
        """``places`` as an array."""
        return np.array(self.places, np.int64)

    @property
    def reads(self) -> bool:
        """Whether it uses a read port: a load, or an access that loads and stores."""
        return self.loads or not self.stores


@dataclass(frozen=True)
class Asked:
    """The attributes of one memory; None where the source gives none. ``bank_bits`` are bits of the number of a word of
    ``bankwidth`` bytes, the most significant bit of the bank first."""

    numbanks: int | None = None
    bankwidth: int | None = None
    bank_bits: tuple[int, ...] | None = None
    max_replicates: int | None = None
    numreadports: int | None = None
    numwriteports: int | None = None
    skew: bool = True  #: whether banks may be skewed
    pumped: bool = False  #: whether its blocks run at twice the clock
    #: writes per cycle that its blocks are built for: 0 where it is never written, 2 only where it is ``pumped``
    writes: int = 1

    may_add_writes: bool = False  #: whether blocks may be built for more writes where that avoids serializing stores

    @property
    def geometry(self) -> bool:
        """Whether the attributes determine the banks."""
        return self.numbanks is not None or self.bank_bits is not None

    @property
    def replicas(self) -> int | None:
        """The most loads that may read a bank at once."""
        copies = self.max_replicates
        if self.pumped and copies is not None:
            copies *= most_reads(self.writes < MOST_WRITES, self.writes)
        limits = [n for n in (copies, self.numreadports) if n is not None]
        return min(limits, default=None)
