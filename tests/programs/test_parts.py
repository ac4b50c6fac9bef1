"""A few seeds of random irregular kernels in parts; ``python -m tests.programs.parts`` runs more."""

import pytest

from .irregular import irregular_kernel
from .parts import FORMS, parts_of


@pytest.mark.parametrize("seed, promised", [(1000, False), (1003, False), (2001, True)])
def test_parts_leave_the_bytes_of_the_kernel(seed, promised):
    kernel = irregular_kernel(seed, promised=promised)
    found = [parts_of(kernel, seed, form, promised) for form in FORMS]
    assert found[1:3] == [3, 4]
