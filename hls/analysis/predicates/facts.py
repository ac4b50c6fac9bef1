"""Facts that hold under conditions, and the other conditions that they decide."""

from ...ir import Value
from .implication import comparison_key, implied
from .value_sets import ValueSet, ValueSets, both

__all__ = ["Facts"]


class Facts:
    """The consequences of conditions that hold: truth values of other conditions, and possible numbers of values.

    Without ``sets``, which cache what each condition implies about numbers while operations do not change, only truth
    values are known.
    """

    __slots__ = ("_numbers", "_sets", "_truths")

    def __init__(self, sets: ValueSets | None = None) -> None:
        self._sets = sets
        self._truths: dict[object, bool] = {}  #: by comparison key
        self._numbers: dict[Value, ValueSet] = {}

    def __bool__(self) -> bool:
        return bool(self._truths or self._numbers)

    def where(self, condition: Value, truth: bool = True) -> "Facts":
        """These facts, and the consequences of a condition being true, or false."""
        more = Facts(self._sets)
        more._truths = dict(self._truths)
        for value, holds in implied(condition, truth).items():
            key, same = comparison_key(value)
            more._truths[key] = holds == same
        if self._sets is not None:
            more._numbers = both(self._numbers, self._sets.of(condition, truth))
        return more

    def decided(self, condition: Value) -> bool | None:
        """The truth value of a condition; None if the facts do not decide it."""
        key, same = comparison_key(condition)
        if key in self._truths:
            return self._truths[key] == same
        return self._sets.decided(condition, self._numbers) if self._sets is not None and self._numbers else None
