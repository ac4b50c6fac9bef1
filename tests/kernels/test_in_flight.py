"""Store-to-load forwarding from stores in flight: right bytes for any addresses and stalls, and no wait for memory."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels.system import Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "in_flight.cl").read_text()
#: cycles between iterations that all need the result of the one before, which is in flight: from load to store, and the
#: comparison of slots; memory would take some two hundred
MOST_APART = {"bins": 16, "relax": 18, "halves": 16, "float_sums": 40}


def launch(n: int, kind: str) -> Launch:
    rng = np.random.default_rng(n)
    at = {"distinct": rng.permutation(64), "few": rng.integers(0, 6, 64), "same": np.full(64, 7)}[kind]
    return Launch({"a": rng.integers(0, 62, 160).astype(np.int32), "at": at.astype(np.int32)}, {"n": n})


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_bytes(system, kernel):
    launches = [launch(n, kind) for n, kind in ((1, "few"), (33, "same"), (64, "few"), (64, "distinct"))]
    system.check(kernel, launches, (0, 1, 2))


@pytest.mark.parametrize("kernel", MOST_APART)
def test_a_store_in_flight_is_read_at_once(system, kernel):
    (stats,) = system.check(kernel, [launch(64, "same")])
    assert max(stats["loops"], key=lambda loop: loop["iterations"])["measured_ii"] <= MOST_APART[kernel]


@pytest.mark.parametrize("kernel", ["rows", "scaled_rows"])
def test_rows_that_each_invocation_updates(system, kernel):
    """A row is shorter than memory takes: without forwarding, each of its elements waits for the row before. Filling
    the pipeline counts in 384 iterations, also where the rows wait for stores in front of their loop."""
    (stats,) = system.check(kernel, [launch(64, "distinct")])
    assert max(stats["loops"], key=lambda loop: loop["iterations"])["measured_ii"] <= 1.8
