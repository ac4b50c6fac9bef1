"""Load-store units that the program selects or that are chosen for infrequent accesses: every byte as in the
interpreter."""

from pathlib import Path

import numpy as np
import pytest

from hls.profile.refused import READ_REFUSED, refused
from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "lsu.cl").read_text()
SEEDS = (0, 1, 2)


def launch(kernel: str, n: int) -> Launch:
    rng = np.random.default_rng(n)
    buffers = {name: rng.integers(-999, 999, 64).astype(np.int32) for name in ("a", "b", "out", "more")}
    sizes = ((8 * max(1, n // 8),), (8,)) if kernel == "once_a_group" else ((1,), None)
    return Launch(buffers, {"n": n}, *sizes, misalign=4 * (n % 3))


@pytest.fixture(scope="module")
def system():
    system = KernelSystem(SOURCE)
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in (0, 1, 7, 21)], SEEDS)


@pytest.mark.parametrize(("kernel", "units"), [("follows", 3), ("follows_stores", 1)])
def test_loads_that_follow_what_they_read_have_words_requested_ahead(system, kernel, units):
    (found,) = [k for k in system.result.kernels if k.function.name == kernel]
    assert sum(access.lsu == "next-word prefetching" for access in found.memory.outside.values()) == units


@pytest.mark.parametrize(("kernel", "units"), [("streams", 3), ("merged", 2), ("streams_stored", 1)])
def test_loads_of_streams_are_inside_the_pipeline(system, kernel, units):
    (found,) = [k for k in system.result.kernels if k.function.name == kernel]
    assert sum(access.lsu == "stepping prefetching" for access in found.memory.outside.values()) == units


def test_a_merge_has_an_interval_of_one(system):
    (found,) = [k for k in system.result.kernels if k.function.name == "merged"]
    assert [plan.ii for plan in found.plan.loops.values()] == [1]


def at_the_end(n: int, k: int) -> Launch:
    """Iteration ``k`` of ``streams`` is the first that reads outside of b, if there are so many of ``n``."""
    buffers = {"a": np.full(64, 9, np.int32), "b": np.zeros(32 + k, np.int32)}
    return Launch(buffers | {name: np.zeros(64, np.int32) for name in ("out", "more")}, {"n": n})


@pytest.mark.parametrize("k", [0, 16])
def test_a_load_of_a_stream_outside_is_an_error_where_the_program_makes_it(system, k):
    """Words ahead may be outside, and so may the word before the first iteration of a loop without iterations."""
    system.check("streams", [at_the_end(n, k) for n in {0, k}], SEEDS)
    layout, line = system.kernels["streams"].layout, SOURCE[: SOURCE.index("y = b[j]")].count("\n") + 1
    for seed in SEEDS:
        for n in (k + 1, k + 9):
            system.loaded.session.reset(seed)
            run, _ = system.launch("streams", at_the_end(n, k))
            told = {(access.kind, access.buffer, access.line) for access in refused(layout.all_accesses, run.status)}
            assert run.status >> READ_REFUSED & 1 and told == {("load", "b", line)}, (seed, n)


def test_rare_accesses_have_small_units(system):
    kernel = next(k for k in system.result.kernels if k.function.name == "once")
    alone = [access for access in kernel.memory.outside.values() if not access.lanes]
    assert len(alone) == 3
    assert {access.lsu for access in alone} == {"pipelined"}


def test_volatile_is_read_each_time(system):
    """A loop that looks at one place until another kernel or the host has written it sees what is there."""
    for statistics in system.check("polled", [launch("polled", 21)], SEEDS[:2]):
        moved = {
            (access["buffer"], access["line"]): access["bytes_moved"]
            for access in statistics["memory"]
            if access["kind"] == "load"
        }
        line = SOURCE[: SOURCE.index("s += b[0]")].count("\n") + 1
        assert moved["a", line] == 64 and moved["b", line] == 21 * 64, moved
