"""Random kernels on the model: the cycles of one system of the campaign as the simulated board measured them."""

import pytest

from tests.model.campaign import launches_of, random_system

SYSTEM = 0
#: in the order of its launches: `python -m tests.model.campaign --start 0` prints them
MEASURED = (
    *(888, 865, 773, 1627, 1604, 1512),  # a network, twice
    *(676, 653, 608, 1161, 1135, 1093),
    *(5784, 10125, 6467),  # nests whose loads meet stores
    *(457, 457),  # work-groups with barriers
)


def test_a_system_of_the_campaign_is_predicted():
    found = launches_of(random_system(SYSTEM), "de5net", "model")
    assert [cycles for _, cycles, _ in found] == pytest.approx(MEASURED, rel=0.005)


def test_systems_have_all_kinds_of_launches():
    texts = "\n".join(one.text for number in range(8) for one in random_system(number))
    assert all(word in texts for word in ("depth(0)", "num_compute_units", "barrier", "mem_fence", "if (x & 1)"))
