"""The functions of atomic operations: old value and operands to new value."""

from collections.abc import Callable, Iterable

from amaranth import *
from amaranth.hdl import ValueLike

__all__ = ["FUNCTIONS", "OPERANDS", "atomic_result"]

#: (old value, operands) -> new value; all as wide as the memory location
_RESULTS: dict[str, Callable[..., Value]] = {
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
#: number of operands of the functions that do not take one
OPERANDS = {"cmpxchg": 2, "read": 0}


def atomic_result(function: str, old: Value, operands: Iterable[ValueLike]) -> Value:
    """The result of ``function`` (one of :data:`FUNCTIONS`) on ``old``; :data:`OPERANDS` is the number of operands."""
    return Value.cast(_RESULTS[function](old, *(Value.cast(v) for v in operands)))[: len(old)]
