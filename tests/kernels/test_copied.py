"""Kernels that work on copies of small buffers: the same bytes as without, and fewer cycles."""

from pathlib import Path

import numpy as np
import pytest

from hls.ir import Attr
from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names
from tests.plans import planned_alone

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "copied.cl").read_text()
COPY_BYTES = 256


def launch(kernel: str, count: int, seed: int) -> Launch:
    """One whose buffers, or the largest of those that are copied, have ``count`` bytes."""
    rng = np.random.default_rng(seed)
    if kernel in ("sorted", "bubbled"):
        a = rng.integers(-99, 99, count // 4).astype(np.int32)
        return Launch({"a": a}, {"n": a.size - 3}, misalign=seed)
    if kernel == "followed":
        arrays = {"next": rng.permutation(count).astype(np.uint8), "out": np.zeros(210, np.uint8)}
        return Launch(arrays, {"n": 203}, misalign=seed)
    if kernel == "matched":
        ends = rng.integers(0, min(count // 2, 200), (2, 150)).astype(np.uint8)
        mate = np.full(count // 2, -1, np.int16)
        return Launch({"from": ends[0], "to": ends[1], "mate": mate}, {"edges": 150}, misalign=seed)
    if kernel == "merged":
        a = np.concatenate([np.sort(rng.integers(-99, 99, count // 8)) for _ in range(2)]).astype(np.int32)
        return Launch({"a": a, "b": np.zeros(a.size, np.int32)}, {"n": a.size}, misalign=seed)
    if kernel in ("solved", "decomposed"):
        return _triangle(rng, kernel, count // 4, seed)
    return _graph(rng, count, seed)


def _triangle(rng: np.random.Generator, kernel: str, elements: int, seed: int) -> Launch:
    """A matrix in a buffer of so many elements, of which the last ones are not part of it."""
    matrix, n = rng.uniform(-1, 1, elements).astype(np.float32), int(elements**0.5)
    if kernel == "decomposed":
        return Launch({"a": matrix}, {"n": n}, misalign=seed)
    return Launch({"l": matrix, "x": rng.random(n, np.float32)}, {"n": n}, misalign=seed)


def _graph(rng: np.random.Generator, edges: int, seed: int) -> Launch:
    nodes = 20
    ends = np.sort(rng.integers(0, nodes, edges))
    row = np.searchsorted(ends, np.arange(nodes + 1)).astype(np.uint16)
    edge = rng.integers(0, nodes, edges).astype(np.uint8)
    # the elements behind the nodes are nobody's: no copy may write them back
    level = np.where(np.arange(nodes + 5) < nodes, -1, 77).astype(np.int8)
    queue = np.full(nodes + 5, 99, np.int16)
    arrays = {"row": row, "edge": edge, "level": level, "queue": queue}
    return Launch(arrays, {"source": 3, "nodes": nodes}, misalign=seed)


@pytest.fixture(scope="module")
def system(request):
    system = KernelSystem(SOURCE, copy_bytes=COPY_BYTES, choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", kernel_names(SOURCE))
def test_same_bytes_and_fewer_cycles(system, kernel):
    small, large = launch(kernel, COPY_BYTES - 4, 1), launch(kernel, COPY_BYTES + 4, 2)
    if kernel == "followed":  # a byte names 256 elements
        large = Launch({**large.buffers, "next": np.resize(small.buffers["next"], COPY_BYTES + 4)}, large.scalars)
    found = system.check(kernel, [small, large, small], seeds=[0, 5])
    # two runs that are merged are read ahead from external memory, too
    assert found[0]["cycles"] < (1 if kernel == "merged" else 0.9) * found[1]["cycles"]


@pytest.mark.parametrize("kernel", ["solved", "decomposed"])
def test_a_triangle_on_the_chip_runs_by_columns(kernel):
    (found,) = planned_alone(SOURCE, kernel, "de5net", COPY_BYTES)
    assert any(loop.attrs.get(Attr.INTERCHANGED) for loop in found.plan.loops)


def test_marks_of_two_stores_take_no_turns():
    """A swap of neighbours stores each element once, and marks two: each store has marks of its own."""
    (found,) = planned_alone(SOURCE, "bubbled", "de5net", COPY_BYTES)
    inner = [loop for loop in found.plan.loops if loop.attrs.get(Attr.LABEL) == "i" and Attr.COPYING not in loop.attrs]
    assert [found.plan.loops[loop].ii for loop in inner] == [1]


def test_an_unknown_size_is_no_copy(system):
    """A driver that does not know the sizes leaves the registers 0."""
    one = launch("sorted", 80, 3)
    usual, _ = system.run("sorted", one)
    interface = system.kernels["sorted"]
    assert [name for name in interface.launch if name.startswith("bytes_of_")] == ["bytes_of_a"]
    system.loaded.session.reset(0)
    places = system.addresses("sorted", one)
    run = system.loaded.run(interface, places | dict(one.scalars), {"bytes_of_a": 0})
    assert system.result.decode("sorted", run.counters)["cycles"] > usual["cycles"]
