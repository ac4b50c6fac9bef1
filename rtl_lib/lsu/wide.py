"""Common part of wide accesses: several lanes that begin at any lane of a word and may end in the next word."""

from collections.abc import Iterable, Sequence
from typing import Any

from amaranth import *
from amaranth.utils import exact_log2

from rtl_lib.mem.ports import require_power_of_two

__all__ = ["Lanes", "rotate", "wide_load", "wide_store"]


def wide_load(memory: bytes | bytearray, accesses: Iterable[tuple[int, int]], lanes: int, lane_bytes: int) -> list[int]:
    """Golden: for each pair of address and mask the lanes as one number; masked lanes are 0."""
    values = []
    for addr, mask in accesses:
        parts = [
            memory[addr + k * lane_bytes : addr + (k + 1) * lane_bytes] if mask >> k & 1 else bytes(lane_bytes)
            for k in range(lanes)
        ]
        values.append(int.from_bytes(b"".join(parts), "little"))
    return values


def wide_store(memory: bytearray, stores: Iterable[tuple[int, int, int]], lanes: int, lane_bytes: int) -> None:
    """Golden: write ``stores``, triples of address, value and mask, one after the other into the bytearray
    ``memory``."""
    for addr, value, mask in stores:
        whole = value.to_bytes(lanes * lane_bytes, "little")
        for k in range(lanes):
            if mask >> k & 1:
                memory[addr + k * lane_bytes : addr + (k + 1) * lane_bytes] = whole[
                    k * lane_bytes : (k + 1) * lane_bytes
                ]


class Lanes:
    """``lanes`` lanes of ``lane_bytes`` bytes in memory of ``word_bytes`` bytes a word, in which they must fit.

    Raises ValueError, naming the parameter, for an impossible geometry.
    """

    def __init__(self, lanes: int, lane_bytes: int, word_bytes: int) -> None:
        require_power_of_two("word_bytes", word_bytes, 2)
        require_power_of_two("lane_bytes", lane_bytes, 1, word_bytes // 2)
        self.places = word_bytes // lane_bytes  #: lanes of a word
        if not isinstance(lanes, int) or not 1 <= lanes <= self.places:
            raise ValueError(f"lanes must be 1 to {self.places}, so that they fit a word, not {lanes!r}")
        self.count, self.bytes, self.bits = lanes, lane_bytes, 8 * lane_bytes
        self.lane_shift, self.word_shift = exact_log2(lane_bytes), exact_log2(word_bytes)

    def split(self, addr: Value) -> tuple[Value, Value]:
        """(number of the word, index of lane 0 in it) of a byte address."""
        return addr[self.word_shift :], addr[self.lane_shift : self.word_shift]

    def behind(self, place: Value) -> Value:
        """A bit for each lane position of a word: whether it is below ``place``, so that for an access which begins at
        ``place`` it is in the next word."""
        return Cat(self._above(place, n) for n in range(self.places))

    def beyond(self, place: Value) -> Value:
        """A bit for each lane of an access which begins at ``place``: whether it is in the next word."""
        return Cat(self._above(place, self.places - 1 - k) for k in range(self.count))

    def _above(self, place: Value, n: int) -> Value:
        """Whether ``place`` is above ``n``; above the last one, none is: a comparison there would be constant."""
        return place > n if n < self.places - 1 else C(0, 1)


def rotate(m: Module, elements: Sequence[Value | None], by: Value, count: int, left: bool = False) -> list[Value]:
    """The ``count`` first elements of ``elements`` rotated by ``by``.

    Element k of the result is element k + ``by`` of ``elements``, with ``left`` element k - ``by``. The number of
    elements is 2 ** len(by); those that are None are don't-cares. A barrel shifter of one stage per bit of ``by``: for
    few results the largest distance first, for few elements the smallest, so that the other stages are narrow.
    """
    size = len(elements)
    steps = [(1 << n, bit) for n, bit in enumerate(by)]
    steps = [(-step, bit) for step, bit in steps] if left else steps[::-1]
    needed = [set(range(count))]
    for step, _ in reversed(steps):
        needed.append({place % size for k in needed[-1] for place in (k, k + step)})
    ring: dict[int, Any] = dict(enumerate(elements))
    for (step, bit), wanted in zip(steps, needed[-2::-1], strict=True):
        ring = {k: _either(m, bit, ring[(k + step) % size], ring[k]) for k in wanted}
    return [ring[k] for k in range(count)]


def _either(m: Module, choice: Value, one: Value | None, other: Value | None) -> Value | None:
    if one is None or other is None:
        return other if one is None else one
    chosen = Signal(len(one))
    m.d.comb += chosen.eq(Mux(choice, one, other))
    return chosen
