"""Loops whose index moves on by what is loaded there, on a board whose memory always answers in time, against the
interpreter; and their rate."""

from pathlib import Path

import numpy as np
import pytest

from hls.profile.refused import READ_REFUSED
from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names
from tests.plans import planned

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "stepping.cl").read_text()


def launch(kernel: str, n: int, most: int = 90) -> Launch:
    rng = np.random.default_rng(n + most)
    a, b = (rng.integers(-most, most, 96).astype(np.int32) for _ in "ab")
    if kernel in ("merge", "common"):
        a[:n], b[:n] = np.sort(a[:n]), np.sort(b[:n])
    return Launch({"a": a, "b": b, "out": np.full(96, -77, np.int32)}, {"n": n})


@pytest.fixture(scope="module", params=[0, 1000], ids=["stall_free", "stall_enabled"])
def system(request):
    system = KernelSystem(SOURCE, "ecp5_onchip", elastic_depth=request.param, counters="all", choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes_and_rate(system, kernel):
    launches = [launch(kernel, n, most) for n, most in ((0, 9), (1, 9), (2, 1), (7, 2), (40, 3), (40, 90))]
    *_, last = system.check(kernel, launches, (1, 2, 3, 0))
    loop = max(last["loops"], key=lambda loop: loop["iterations"])
    assert loop["static_ii"] == 1
    assert loop["measured_ii"] <= (1.05 if kernel != "passes" else 1.7)  # each short merge begins anew


#: kernel -> elements of a and b, and of the same buffers without the last element that the program reads, for n = 7
ENDS = {
    "merge": ((7, 7), (7, 6)),
    "skip": ((7, 7), (6, 7)),
    "two_ends": ((7, 7), (7, 6)),
    "entered_often": ((4, 4), (3, 4)),
}


@pytest.mark.parametrize("kernel", ENDS)
def test_a_load_outside_is_an_error_where_the_program_makes_it(system, kernel):
    """Not where it is only loaded ahead."""

    def cut(lengths: tuple[int, int]) -> Launch:
        given = {"a": np.full(lengths[0], -1, np.int32), "b": np.full(lengths[1], 1, np.int32)}
        return Launch(given | {"out": np.full(96, -77, np.int32)}, {"n": 7})

    inside, outside = map(cut, ENDS[kernel])
    system.check(kernel, [inside], (0, 1))
    for seed in (0, 1):
        system.loaded.session.reset(seed)
        run, _ = system.launch(kernel, outside)
        assert run.status >> READ_REFUSED & 1


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_every_loop_that_steps_has_an_interval_of_one(kernel):
    *_, outer = intervals = [plan.ii for plan in planned(SOURCE, "ecp5_onchip")[kernel].plan.loops.values()]
    assert intervals[:1] == [1]
    assert outer == 1 or kernel == "passes"  # each pass waits for the one before
