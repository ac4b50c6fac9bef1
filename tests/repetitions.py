"""Random tests repeat one generator with many seeds: a quarter of the seeds is enough for `make test`, and `make
test-all` runs all of them. Likewise of the combinations of several parameters."""

import itertools
from collections.abc import Hashable, Iterable, Sequence

import pytest

__all__ = ["pairwise", "sampled"]

#: of so many cases two are kept
STRETCH = 8


def sampled(cases: Iterable) -> list:
    """The cases of ``pytest.mark.parametrize``, in their order; all but two of every :data:`STRETCH`
    are marked long.

    Pairs are kept, not every fourth case: generators choose by the parity of a seed. A case of several
    parameters is a tuple. What is left out must repeat what is kept: other seeds of one generator.
    """
    return [
        case
        if place % STRETCH < 2
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for place, case in enumerate(cases)
    ]


def pairwise(cases: Sequence[tuple[Hashable, ...]]) -> list[bool]:
    """Which cases of a test with several parameters to keep so that every two values of two parameters that meet in
    some case meet in a kept one.

    A case is the value of each parameter. Most faults need one value, or two that meet, and a greedy
    choice keeps hardly more cases than the product of the two longest parameters (D. M. Cohen et al., The AETG system,
    IEEE Transactions on Software Engineering 23(7), 1997). Of cases that show as many new pairs the first one is kept,
    so that the same cases are chosen everywhere.
    """
    pairs = [set(itertools.combinations(enumerate(case), min(2, len(case)))) for case in cases]
    left, kept = set().union(*pairs), [False] * len(cases)
    while left:
        best = max(range(len(cases)), key=lambda place: len(pairs[place] & left))
        kept[best] = True
        left -= pairs[best]
    return kept
