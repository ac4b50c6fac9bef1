"""A system has the kernels that its tests name, and no others."""

from types import SimpleNamespace

import pytest

from tests.kernels.chosen import chosen, named
from tests.kernels.system import KernelSystem

KERNELS = frozenset({"one", "two", "three"})
TABLE = {"three": 3}
SOURCE = """
int twice(int x) { return 2 * x; }
__kernel void one(__global int *restrict a) { a[0] = twice(a[0]); }
__kernel void two(__global int *restrict a) { a[0] = 2; }
"""
CHANNELS = """
#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int c;
__kernel void one(int n) { write_channel_intel(c, n); }
__kernel void two(__global int *restrict a) { a[0] = read_channel_intel(c); }
__kernel void three(__global int *restrict a) { a[0] = 3; }
"""


def called(system):
    return system.check("two", TABLE)


def by_parameter(system, kernel):
    system.check(kernel)


def by_constant(system):
    return [system.check(name) for name in ("one", "two")]


def by_call(system):
    called(system)


def by_nothing(system):
    system.check(min(system.kernels))


def item(function, place=0, fixture="system", **params):
    return SimpleNamespace(
        function=function,
        module="here",
        fixturenames=[fixture],
        callspec=SimpleNamespace(params=params, indices={fixture: place}),
    )


@pytest.mark.parametrize(
    "one, expected",
    [
        (item(by_parameter, kernel="one"), {"one"}),
        (item(by_parameter, kernel=("other", "three")), {"three"}),
        (item(by_constant), {"one", "two"}),
        (item(by_call), {"two", "three"}),
        (item(by_nothing), KERNELS),
    ],
    ids=["parameter", "parameters", "constant", "call", "nothing"],
)
def test_named(one, expected):
    assert named(one, KERNELS) == expected


def test_tests_of_the_fixture_with_its_parameter_count():
    items = [
        item(by_parameter, kernel="one"),
        item(by_parameter, place=1, kernel="two"),
        item(by_parameter, fixture="other", kernel="three"),
        SimpleNamespace(module="elsewhere"),
    ]
    session = SimpleNamespace(items=items)
    request = SimpleNamespace(session=session, module="here", fixturename="system", param_index=0)
    assert chosen(request)(KERNELS) == {"one"}
    request.param_index = 2  # no test: a fixture that another one asks for
    assert chosen(request)(KERNELS) == KERNELS


def test_only_chosen_kernels_are_built():
    system = KernelSystem(SOURCE, "ecp5_onchip", choose=lambda kernels: kernels - {"two"})
    assert list(system.kernels) == ["one"] and list(system.result.module.functions) == ["twice", "one"]
    system.close()


def test_kernels_that_need_each_other_are_built_together():
    system = KernelSystem(CHANNELS, "ecp5_onchip", choose=lambda kernels: frozenset({"one"}))
    assert sorted(system.kernels) == ["one", "two"]
    system.close()
