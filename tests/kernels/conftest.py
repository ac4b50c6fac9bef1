"""Fixtures shared by the tests of a file of kernels."""

import pytest

from tests.kernels.system import KernelSystem


@pytest.fixture(scope="module")
def system(request):
    """The kernels of the test file's ``SOURCE`` in one simulated system; a file that wants another board or levels has
    its own."""
    system = KernelSystem(request.module.SOURCE)
    yield system
    system.close()
