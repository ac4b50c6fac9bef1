"""The area of what kernels share, by the source lines that use it.

The rule: an interconnect, a memory port of the board and a cache that several loads share are split equally among the
load-store units that they serve, and each unit's part belongs to the line of its access; a channel belongs to the line
that declares it; the control registers' windows are split equally among the kernels. Sums are exact: integers by
largest remainders.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from ..diag import Span
from ..model.area import Resources, integers
from ..planning.memory import Access as Planned
from ..target.board import Board
from .model import Access, Channel, Kernel

__all__ = ["SharedUsers", "lines_of_caches"]

_READS, _WRITES, _ATOMIC = frozenset({"load", "atomic"}), frozenset({"store", "atomic"}), frozenset({"atomic"})
#: the unit of loads from the constant cache, as reports name it
_CACHED_CONSTANT = "constant-pipelined"


@dataclass(frozen=True)
class SharedUsers:
    """What uses the instances of a design's top module that belong to no kernel."""

    kernels: tuple[Kernel, ...]
    channels: tuple[Channel, ...]
    board: Board
    #: by what an instance of a cache is called behind its number the lines of the loads through it
    caches: Mapping[str, Counter[Span]] = field(default_factory=dict)

    def split(self, instance: str, used: Resources) -> Iterator[tuple[Span | None, Resources]]:
        """The parts of an instance's resources that belong to each line; None for what no line uses."""
        users = self.of(instance)
        if not users:
            yield None, used
            return
        whole, spans = users.total(), sorted(users)
        columns = [
            integers(total, [total * users[span] / whole for span in spans])
            for total in (getattr(used, one.name) for one in fields(Resources))
        ]
        for span, parts in zip(spans, zip(*columns, strict=True), strict=True):
            if any(parts):
                yield span, Resources(*parts)

    def of(self, instance: str) -> Counter[Span]:
        """The lines that use an instance, with the number of units or kernels there."""
        if found := re.fullmatch(r"(read|write)_(?:interconnect(?:_(\w+))?|master(\d+))", instance):
            kinds = _READS if found[1] == "read" else _WRITES
            return self._accesses(kinds, self._memory_of_bank(int(found[3])) if found[3] else found[2])
        if found := re.fullmatch(r"atomics(?:_(\w+))?", instance):
            return self._accesses(_ATOMIC, found[1])
        if found := re.fullmatch(r"constant_cache(?:_(\w+))?", instance):
            return self._accesses(_READS, found[1], _CACHED_CONSTANT)
        if found := re.fullmatch(r"shared_cache\d+_(\w+)", instance):
            return self.caches.get(found[1], Counter())
        if found := re.fullmatch(r"channel_(\w+)_(\d+)", instance):
            return _lines(
                (one.span, 1)
                for one in self.channels
                if one.name.partition("[")[0] == found[1] and int(found[2]) in _indices(one)
            )
        return _lines((kernel.span, _copies(kernel)) for kernel in self.kernels)

    def _memory_of_bank(self, number: int) -> str | None:
        """The name of the memory that has a bank, counted through all memories; None for the default one."""
        for position, memory in enumerate(self.board.memories):
            if number < len(memory.banks):
                return memory.name.lower() if position else None
            number -= len(memory.banks)
        raise ValueError(f"the board has no bank {number}")

    def _accesses(self, kinds: frozenset[str], memory: str | None, unit: str = "") -> Counter[Span]:
        """The lines of the units for such accesses to a memory; ``unit`` is how the kind of unit begins."""
        return _lines(
            (access.span, access.count * kernel.units * _copies(kernel))
            for kernel in self.kernels
            for access in kernel.accesses
            if access.kind in kinds and _location(access) == memory and access.lsu.startswith(unit)
        )


def lines_of_caches(accesses: Iterable[Planned]) -> dict[str, Counter[Span]]:
    """The lines of the loads through each cache that several of the program's ``accesses`` use, by the name that
    :mod:`hls.rtl.global_memory` gives its instance, behind the number."""
    found: dict[str, list[tuple[Span | None, int]]] = {}
    for one in accesses:
        if one.shared is not None:
            behind = f"_{one.location.lower()}" if one.location else ""
            found.setdefault(one.shared.name.replace(".", "_") + behind, []).append((one.span, 1))
    return {name: _lines(spans) for name, spans in found.items()}


def _location(access: Access) -> str | None:
    return access.memory.lower() if access.memory else None


def _copies(kernel: Kernel) -> int:
    return kernel.copies.count if kernel.copies else 1


def _indices(channel: Channel) -> tuple[int, ...]:
    """The indices of an entry's channels; a channel that is no array has index 0."""
    if channel.indices:
        return channel.indices
    found = re.search(r"\[(\d+)\]$", channel.name)
    return (int(found[1]) if found else 0,)


def _lines(users: Iterable[tuple[Span | None, int]]) -> Counter[Span]:
    found: Counter[Span] = Counter()
    for span, number in users:
        if span is not None:
            found[Span(span.file, span.line)] += number
    return found
