"""Random tests repeat one generator with many seeds: half of the seeds are enough for `make test`, and `make test-all`
runs all of them."""

from collections.abc import Iterable

import pytest

__all__ = ["half_long"]


def half_long(cases: Iterable) -> list:
    """The cases of ``pytest.mark.parametrize``, in their order; two of every four are marked long.

    Pairs are kept and left out, not every second case: generators choose by the parity of a seed. A case of several
    parameters is a tuple. What is left out must repeat what is kept: other seeds of one generator.
    """
    return [
        case if place % 4 < 2 else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
        for place, case in enumerate(cases)
    ]
