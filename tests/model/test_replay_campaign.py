"""Random kernels on the model: the cycles of one system of the campaign as the simulated board measured them."""

import pytest

from tests.model.campaign import launches_of, random_system

SYSTEM = 0
#: in the order of its launches: `python -m tests.model.campaign --start 0` prints them
MEASURED = (
    *(871, 856, 772, 1611, 1596, 1512),  # a network, twice
    *(660, 645, 608, 1145, 1127, 1093),
    *(5767, 10125, 6421),  # nests whose loads meet stores
    *(456, 456),  # work-groups with barriers
)


def test_a_system_of_the_campaign_is_predicted():
    found = launches_of(random_system(SYSTEM), "de5net", "model")
    assert [cycles for _, cycles, _ in found] == pytest.approx(MEASURED, rel=0.005)


def test_systems_have_all_kinds_of_launches():
    texts = "\n".join(one.text for number in range(8) for one in random_system(number))
    assert all(word in texts for word in ("depth(0)", "num_compute_units", "barrier", "mem_fence", "if (x & 1)"))
