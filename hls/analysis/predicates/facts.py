"""What is known where conditions hold, and which other conditions that decides."""

from ...ir import Value
from .implication import comparison_key, implied
from .value_sets import ValueSet, ValueSets, both

__all__ = ["Facts"]


class Facts:
    """What follows from conditions that hold: truths of others, and which numbers values can be.

    Without ``sets``, which remember what each condition says about numbers as long as nobody changes the operations,
    only truths are known.
    """

    __slots__ = ("_numbers", "_sets", "_truths")

    def __init__(self, sets: ValueSets | None = None):
        self._sets = sets
        self._truths: dict[object, bool] = {}  #: by what a condition compares
        self._numbers: dict[Value, ValueSet] = {}

    def __bool__(self) -> bool:
        return bool(self._truths or self._numbers)

    def where(self, condition: Value, truth: bool = True) -> "Facts":
        """These facts, and those that follow from a condition being true, or false."""
        more = Facts(self._sets)
        more._truths = dict(self._truths)
        for value, holds in implied(condition, truth).items():
            key, same = comparison_key(value)
            more._truths[key] = holds == same
        if self._sets is not None:
            more._numbers = both(self._numbers, self._sets.of(condition, truth))
        return more

    def decided(self, condition: Value) -> bool | None:
        """The truth of a condition; None where the facts do not tell."""
        key, same = comparison_key(condition)
        if key in self._truths:
            return self._truths[key] == same
        return self._sets.decided(condition, self._numbers) if self._sets is not None and self._numbers else None
