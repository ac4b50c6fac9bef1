"""Fixtures shared by the tests of a file of kernels."""

import pytest

from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem


@pytest.fixture(scope="module")
def system(request):
    """The kernels of the test file's ``SOURCE`` that the selected tests run, in one simulated system; a file that wants another board or levels has
    its own."""
    system = KernelSystem(request.module.SOURCE, choose=chosen(request))
    yield system
    system.close()
