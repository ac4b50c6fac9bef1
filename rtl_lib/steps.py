"""Counters and pointers that take one step at a time, in one carry chain each."""

from amaranth import *

__all__ = ["after", "count", "reached"]


def after(pointer: Value, depth: int) -> Value:
    """The value of ``pointer`` after one step, modulo ``depth``: where it wraps by itself, without a comparison."""
    following = pointer + 1
    return following[: len(pointer)] if depth == 1 << len(pointer) else Mux(reached(pointer, depth - 1), 0, following)


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
