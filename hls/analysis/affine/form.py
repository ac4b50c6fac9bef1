"""An affine form: a constant plus multiples of unknowns, which are iteration counters of loops and opaque values; and
what comparisons imply of forms: others that are at least 0, and bounds of a form from such facts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ...ir import Value
from ...narrow import present
from ..induction.periodic import PeriodicSequence
from ..loops.loop_tree import Loop
from .floordiv import Quotient

__all__ = ["Affine", "Symbol", "WrappedSum", "compared_facts", "narrowed_by"]


@dataclass(frozen=True)
class Symbol:
    """A value as an unknown number, read as signed or as unsigned, between ``low`` and ``high``.

    With ``wraps``, a sum, the unknown is instead how often 2**bits must be added to that sum to obtain the value.
    ``course`` is its sequence over the iterations, if that is the same in every run; ``quotient`` the sum of which it
    is a quotient; ``pace`` its initial value, the loop that carries it, and its least and greatest increase in an
    iteration.
    """

    value: Value
    signed: bool
    low: int = field(compare=False)
    high: int = field(compare=False)
    wraps: "Affine | None" = field(default=None, compare=False)
    course: PeriodicSequence | None = field(default=None, compare=False)
    quotient: "tuple[Quotient, Affine] | None" = field(default=None, compare=False)
    pace: "tuple[Affine, Loop, int, int] | None" = field(default=None, compare=False)


@dataclass(frozen=True)
class WrappedSum:
    """A value that is a wrapped sum, as one number within its bounds, in place of the sum."""

    symbol: Symbol


@dataclass(frozen=True)
class Affine:
    """``const`` plus the sum of factor times unknown; an unknown is a Symbol, or a Loop, which stands for its iteration
    counter from 0."""

    const: int = 0
    terms: dict[Any, int] = field(default_factory=dict)

    def __add__(self, other: "Affine") -> "Affine":
        terms = dict(self.terms)
        for unknown, factor in other.terms.items():
            terms[unknown] = terms.get(unknown, 0) + factor
        return Affine(self.const + other.const, {u: f for u, f in terms.items() if f})

    def __mul__(self, factor: int) -> "Affine":
        return Affine(self.const * factor, {u: f * factor for u, f in self.terms.items()} if factor else {})

    def __sub__(self, other: "Affine") -> "Affine":
        return self + other * -1

    def unwrapped(self, symbol: Symbol) -> "Affine | None":
        """The form with a sum that wraps, counted by ``symbol``, replaced by a bounded value; None if that is
        impossible."""
        factor = self.terms[symbol]
        times, rest = divmod(factor, 1 << symbol.value.type.bits)
        if rest:
            return None
        # the wrapped value is its sum plus a multiple of a power of two; it replaces both
        return (
            self - present(symbol.wraps) * times + Affine(0, {symbol: -factor}) + Affine(0, {WrappedSum(symbol): times})
        )

    def loops(self) -> Iterable[Loop]:
        """The loops whose iteration counters occur in the form."""
        return (u for u in self.terms if isinstance(u, Loop))

    def symbols(self) -> Iterable[Symbol]:
        """The unknowns of the form that are no iteration counters."""
        return (u for u in self.terms if isinstance(u, Symbol))


_Facts = Callable[[Affine, Affine, bool], list[Affine]]


def _less(a: Affine, b: Affine, truth: bool) -> list[Affine]:
    return [b - a - Affine(1)] if truth else [a - b]


def _less_or_equal(a: Affine, b: Affine, truth: bool) -> list[Affine]:
    return _less(b, a, not truth)


def _equal(a: Affine, b: Affine, truth: bool) -> list[Affine]:
    return [a - b, b - a] if truth else []


def _not_equal(a: Affine, b: Affine, truth: bool) -> list[Affine]:
    return _equal(a, b, not truth)


#: comparison -> (whether it reads its operands as signed, what it implies)
_FACTS: dict[str, tuple[bool, _Facts]] = {
    "slt": (True, _less),
    "sle": (True, _less_or_equal),
    "ult": (False, _less),
    "ule": (False, _less_or_equal),
    "eq": (True, _equal),
    "ne": (True, _not_equal),
}


def compared_facts(exact: Callable[[Value, bool], Affine], condition: Value, truth: bool) -> list[Affine]:
    """Affine forms that are not negative if the comparison ``condition`` has this truth value; none of other values.
    ``exact`` gives the form of a value that is read as signed, or not."""
    if condition.op is None or condition.op.opcode not in _FACTS:
        return []
    is_signed, what = _FACTS[condition.op.opcode]
    left, right = (exact(operand, is_signed) for operand in condition.op.operands)
    return what(left, right, truth)


def narrowed_by(facts: Iterable[Affine], form: Affine, low: int, high: int) -> tuple[int, int]:
    """The bounds of a form, narrowed where the facts are not negative: each fact that differs from the form, or from
    its negative, by a constant is a bound."""
    for fact in facts:
        above, below = form + fact, form - fact
        if not above.terms:
            high = min(high, above.const)
        if not below.terms:
            low = max(low, below.const)
    return low, high
