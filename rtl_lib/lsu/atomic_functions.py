"""What atomic operations leave in memory."""

from amaranth import *

__all__ = ["FUNCTIONS", "OPERANDS", "atomic_result"]

#: (what was there, operands) -> what is there after; all as wide as a place of memory
_RESULTS = {
    "add": lambda old, x: old + x,
    "sub": lambda old, x: old - x,
    "xchg": lambda old, x: x,
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "umin": lambda old, x: Mux(x < old, x, old),
    "umax": lambda old, x: Mux(x > old, x, old),
    "smin": lambda old, x: Mux(x.as_signed() < old.as_signed(), x, old),
    "smax": lambda old, x: Mux(x.as_signed() > old.as_signed(), x, old),
    "cmpxchg": lambda old, wanted, new: Mux(old == wanted, new, old),
    "read": lambda old: old,
}
FUNCTIONS = tuple(_RESULTS)
#: how many operands a function takes, where it is not one
OPERANDS = {"cmpxchg": 2, "read": 0}


def atomic_result(function: str, old: Value, operands) -> Value:
    """What ``function`` (one of :data:`FUNCTIONS`) leaves where ``old`` was; takes as many as :data:`OPERANDS` says."""
    return Value.cast(_RESULTS[function](old, *(Value.cast(v) for v in operands)))[: len(old)]
