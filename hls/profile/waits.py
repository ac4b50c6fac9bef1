"""Who waits for whom: within a kernel, and through channels to other kernels.

Within a kernel, the account of a cycle is the source; every other request that is held up in that cycle is a victim.
So of each place the sum of :class:`Held` over all accounts is the number of cycles in which it was held up. Across
kernels, a cycle in which the account is a wait for a channel is blamed on the kernel at the channel's other end, and
there on its account in the same cycle; while that is a wait for a channel as well, the blame is passed on. So of each
such account the sum of :class:`Blamed` is the account.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict

from .layout import Layout
from .probe import Hold

if TYPE_CHECKING:
    from numpy import uint32
    from numpy.typing import NDArray

__all__ = ["Blamed", "Held", "Samples", "UnitWaits", "describe_waits"]


@dataclass(frozen=True)
class Held:
    """In so many ``cycles`` the account was number ``account`` while place number ``hold`` was held up."""

    account: int
    hold: int
    cycles: int


@dataclass(frozen=True)
class Blamed:
    """In so many ``cycles`` the account was number ``account``, a wait for a channel, and the chain of waits led
    through ``kernels`` to the last of them, whose account was number ``last``. ``end`` is "account", or "idle": the
    last kernel does not run; "stream": a stream of the board is at the end; "circle": the last kernel waits for one
    before it. Where chains differ in what lies between the same ends, ``kernels`` is that of the first such cycle."""

    account: int
    kernels: tuple[str, ...]
    end: str
    last: int
    cycles: int


@dataclass(frozen=True)
class UnitWaits:
    """The waits of one compute unit."""

    held: tuple[Held, ...]
    blamed: tuple[Blamed, ...]

    def since(self, before: "UnitWaits") -> "UnitWaits":
        """The waits after a snapshot ``before``."""
        held = {(one.account, one.hold): one.cycles for one in before.held}
        blamed = {replace(one, cycles=0): one.cycles for one in before.blamed}
        now = [replace(one, cycles=one.cycles - held.get((one.account, one.hold), 0)) for one in self.held]
        then = [replace(one, cycles=one.cycles - blamed.get(replace(one, cycles=0), 0)) for one in self.blamed]
        return UnitWaits(tuple(one for one in now if one.cycles), tuple(one for one in then if one.cycles))


@dataclass(frozen=True, eq=False)
class Samples:
    """Counts of intervals of ``length`` cycles from cycle ``first`` of the simulation on; the last one has ``last``
    cycles, if not 0. Every column is an array with a number for each interval: ``events`` by the names of counters,
    ``accounts`` in the layout's order (all cycles without a cause are the last column), ``level_sums``, ``level_most``
    and ``level_least`` of channels by their keys."""

    first: int
    length: int
    last: int
    events: "Mapping[str, NDArray[uint32]]" = field(repr=False)
    accounts: "Sequence[NDArray[uint32]]" = field(repr=False)
    level_sums: "Mapping[str, NDArray[uint32]]" = field(repr=False)
    level_most: "Mapping[str, NDArray[uint32]]" = field(repr=False)
    level_least: "Mapping[str, NDArray[uint32]]" = field(repr=False)


#: the cycles without a cause, in which nothing waits
LATENCY = "latency of the pipeline"


#: account, kernels, end and last of :class:`Blamed`
_Chain = tuple[int, tuple[str, ...], str, int]


class HeldText(TypedDict):
    """:class:`Held` with names and lines instead of numbers."""

    key: str
    what: str
    line: int | None
    cause: str
    cause_line: int | None
    cycles: int


class BlameText(TypedDict):
    """:class:`Blamed` with names and lines instead of numbers."""

    cause: str
    line: int | None
    kernels: list[str]
    end: str
    last_cause: str | None
    last_line: int | None
    cycles: int


class WaitsText(TypedDict):
    """The waits of a kernel."""

    held: list[HeldText]
    blame: list[BlameText]


def describe_waits(
    layouts: Mapping[str, Layout], kernel: str, holds: Sequence[Hold], units: Sequence[UnitWaits]
) -> WaitsText:
    """The waits of a kernel (summed over its units) with names and lines instead of numbers."""
    layout = layouts[kernel]
    held: dict[tuple[int, int], int] = {}
    blamed: dict[_Chain, int] = {}
    for unit in units:
        for one in unit.held:
            held[one.hold, one.account] = held.get((one.hold, one.account), 0) + one.cycles
        for blame in unit.blamed:
            key = blame.account, blame.kernels, blame.end, blame.last
            blamed[key] = blamed.get(key, 0) + blame.cycles
    return {
        "held": [_held(layout, holds[hold], account, cycles) for (hold, account), cycles in sorted(held.items())],
        "blame": [_blamed(layouts, layout, key, cycles) for key, cycles in _longest(blamed)],
    }


def _longest(blamed: Mapping[_Chain, int]) -> list[tuple[_Chain, int]]:
    return sorted(blamed.items(), key=lambda item: (item[0][0], -item[1], item[0]))


def _held(layout: Layout, hold: Hold, account: int, cycles: int) -> HeldText:
    cause, line = _account(layout, account)
    return {"key": hold.key, "what": hold.what, "line": hold.line, "cause": cause, "cause_line": line, "cycles": cycles}


def _blamed(layouts: Mapping[str, Layout], layout: Layout, chain: _Chain, cycles: int) -> BlameText:
    account, kernels, end, last = chain
    cause, line = _account(layout, account)
    last_cause, last_line = _account(layouts[kernels[-1]], last) if end == "account" else (None, None)
    return {
        "cause": cause,
        "line": line,
        "kernels": list(kernels),
        "end": end,
        "last_cause": last_cause,
        "last_line": last_line,
        "cycles": cycles,
    }


def _account(layout: Layout, number: int) -> tuple[str, int | None]:
    """The cause and line of an account; those without a cause are the last two of a layout."""
    if number >= len(layout.accounts) - 2:
        return LATENCY, None
    return layout.accounts[number].cause, layout.accounts[number].line
