"""Counters and pointers that take one step at a time, in one carry chain each."""

from amaranth import *

__all__ = ["LONGEST_RING", "after", "count", "elapsed", "less_one", "next_place", "reached", "ring_after"]

#: For each width the bits of a shift register whose parity, shifted in, leads through all values but 0 (primitive
#: polynomials).
_TAPS = {1: (0,), 2: (0, 1), 3: (1, 2), 4: (2, 3), 5: (2, 4), 6: (4, 5), 7: (5, 6), 8: (3, 4, 5, 7), 9: (4, 8)}
#: The widest pointer for which :func:`ring_after` takes fewer cells than a carry chain.
LONGEST_RING = max(_TAPS)


def after(pointer: Value, depth: int) -> Value:
    """The value of ``pointer`` after one step, modulo ``depth``: where it wraps by itself, without a comparison."""
    following = pointer + 1
    return following[: len(pointer)] if depth == 1 << len(pointer) else Mux(reached(pointer, depth - 1), 0, following)


def ring_after(pointer: Value) -> Value:
    """The place after ``pointer`` on a ring through all its values, which a shift register makes: one bit is computed,
    where ``pointer + 1`` takes a carry chain. For pointers into a memory, whose words may lie in any order.

    The parity of some bits leads through all values but 0 (Golomb 1967); 0 is put before 1.
    """
    taps = Cat(pointer[k] for k in _TAPS[len(pointer)])
    return Cat(taps.xor() ^ ~pointer[:-1].any(), pointer[:-1])


def next_place(pointer: Value, many: int) -> Value:
    """The place after ``pointer`` of ``many`` ones in a memory, in whichever order of them takes the fewest cells."""
    return ring_after(pointer) if 1 < many == 1 << len(pointer) <= 1 << LONGEST_RING else after(pointer, many)


def reached(value: Value, most: int) -> Value:
    """Whether ``value``, which is never greater than ``most``, is equal to it.

    Any number with the bits that are set in ``most`` is at least ``most``, so no other bit needs to be looked at: for a
    power of two it is a single bit, which is a register where ``value`` is one.
    """
    return Cat(value[k] for k in range(len(value)) if most >> k & 1).all()


def count(m: Module, level: Signal, up: Value, down: Value) -> None:
    """Add one to ``level`` in cycles with ``up`` alone, and subtract one in those with ``down`` alone (both are bits).

    A sum of three terms would take two carry chains; this adds 1 or -1, and the enable of the registers does the rest.
    """
    with m.If(up ^ down):
        m.d.sync += level.eq(level + Cat(Const(1, 1), down.replicate(len(level) - 1)))


def elapsed(m: Module, restart: Value, cycles: int) -> Value:
    """Whether so many ``cycles`` have passed since the last one with ``restart``, that one not counted: a register
    where ``cycles`` is a power of two, for which a ring is passed once."""
    bits = (cycles - 1).bit_length()
    if not (1 <= bits <= LONGEST_RING and cycles == 1 << bits):
        age = Signal(range(cycles + 1))
        over = reached(age, cycles)
        with m.If(restart):
            m.d.sync += age.eq(0)
        with m.Elif(~over):
            m.d.sync += age.eq(age + 1)
        return over
    place, passed = Signal(bits), Signal()
    following = ring_after(place)
    with m.If(restart):
        m.d.sync += [place.eq(0), passed.eq(0)]
    with m.Elif(~passed):
        m.d.sync += [place.eq(following), passed.eq(following == 0)]
    return passed


def less_one(value: Value, bits: int) -> Value:
    """``value - 1``, which has so many ``bits``: few bits are a look-up table each, instead of a carry chain."""
    if bits > 4:
        return (value - 1)[:bits]
    return Cat(value[k] ^ ~value[:k].any() for k in range(bits))
