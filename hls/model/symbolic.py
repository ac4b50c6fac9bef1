"""Cycles as a formula of trip counts that nobody has given.

The closed form is evaluated at sizes of the symbols. Where the cycles are a sum of products of symbols (each at most
once in a product), its coefficients follow from the corners of a cube of sizes by inclusion and exclusion; further
sizes inside and outside of the cube then tell whether that is what they are.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..target.board import Board
from .assumed import AssumedWorkload
from .estimate import Planned, estimate, timed
from .prediction import Prediction, Sample

__all__ = ["REFERENCE", "SIZES", "Formula", "estimate_assumed", "fitted"]

#: sizes of the symbols at which figures are given; the middle one is the size for all others
SIZES = (64, 1_024, 16_384)
REFERENCE = SIZES[1]
#: more symbols are not fitted: the corners double with each
MOST_SYMBOLS = 4
#: a formula that is off by less is exact: it leaves room for words of memory that are rounded
EXACT = 1e-6
#: the share of the cycles below which a term is noise of the arithmetic
NOISE = 1e-10


@dataclass(frozen=True)
class Formula:
    """A sum of products: the factor of each set of symbols by name. It holds for symbols of ``start`` or more."""

    terms: Mapping[tuple[str, ...], float]
    start: int

    def __str__(self) -> str:
        """As in ``14 + 7*n``, with the constant first."""
        found = ""
        for names, factor in self.terms.items():
            product = "*".join(([] if names and abs(factor) == 1 else [_number(abs(factor))]) + list(names))
            sign = (" - " if found else "-") if factor < 0 else (" + " if found else "")
            found += f"{sign}{product}"
        return found or "0"

    def at(self, sizes: Mapping[str, int]) -> float:
        """The value for those symbols."""
        return sum(factor * math.prod(sizes[name] for name in names) for names, factor in self.terms.items())


def fitted(cycles: Callable[[Mapping[str, int]], float], names: Sequence[str]) -> Formula | None:
    """The formula of a function of symbols of those ``names``: the one that holds from the smallest size on; None if it
    is no sum of products, or has too many symbols."""
    if len(names) > MOST_SYMBOLS:
        return None
    return next((found for start in SIZES[:2] if (found := _fitted_from(cycles, names, start))), None)


def _fitted_from(cycles: Callable[[Mapping[str, int]], float], names: Sequence[str], start: int) -> Formula | None:
    low, high = start, 4 * start
    corners = {
        chosen: cycles({name: high if name in chosen else low for name in names})
        for size in range(len(names) + 1)
        for chosen in itertools.combinations(names, size)
    }
    terms = _terms(corners, names, low, high - low)
    scale = max(map(abs, corners.values()))
    kept = {chosen: _rounded(one) for chosen, one in terms.items() if abs(one) * high ** len(chosen) > NOISE * scale}
    found = Formula(kept, start)
    mixed = [{name: start * (2 + 3 * (k == number)) for k, name in enumerate(names)} for number in range(len(names))]
    checked = [*mixed, *({name: size for name in names} for size in (2 * start, SIZES[-1]))]
    return found if all(abs(found.at(one) - (now := cycles(one))) <= EXACT * max(now, 1.0) for one in checked) else None


def _terms(
    corners: Mapping[tuple[str, ...], float], names: Sequence[str], low: int, width: int
) -> dict[tuple[str, ...], float]:
    """The factors of the products. With x = low + width y, the factor of a set S in y is the alternating sum over the
    subsets of S; each product of y is then multiplied out."""
    found = dict.fromkeys(corners, 0.0)
    for chosen in corners:
        subsets = [one for one in corners if set(one) <= set(chosen)]
        factor = sum((-1) ** (len(chosen) - len(one)) * corners[one] for one in subsets) / width ** len(chosen)
        for one in subsets:
            found[one] += factor * (-low) ** (len(chosen) - len(one))
    return found


def _rounded(factor: float) -> float:
    """A factor without the noise of the arithmetic: a multiple of 2**-20, if it is not small."""
    return round(factor * 2**20) / 2**20 or factor


def _number(factor: float) -> str:
    return f"{factor:,.0f}" if factor == round(factor) else f"{factor:.6g}"


def estimate_assumed(planned: Planned, assumed: AssumedWorkload, board: Board) -> Prediction:
    """Predict a launch of which no run has told. Raises NotModelled as :func:`hls.model.estimate.estimate` does."""
    names = [symbol.name for symbol in assumed.symbols]

    def cycles(sizes: Mapping[str, int]) -> float:
        return timed(planned, assumed.workload(sizes), board).cycles

    found = estimate(planned, assumed.workload(dict.fromkeys(names, REFERENCE)), board)
    found = replace(found, assumed=(*assumed.assumed, *found.assumed))
    if not names:
        return found
    formula = fitted(cycles, names)
    return replace(
        found,
        symbols=assumed.symbols,
        formula=str(formula) if formula else "",
        formula_from=formula.start if formula else 0,
        samples=tuple(Sample(size, cycles(dict.fromkeys(names, size))) for size in SIZES),
    )
