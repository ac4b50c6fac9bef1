"""Access patterns and index spaces on boards with different memories."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hls.target.board import load_board
from tests.kernels.chosen import chosen
from tests.kernels.system import KernelSystem, Launch, kernel_names

pytestmark = pytest.mark.verilator
SOURCE = (Path(__file__).parent / "memory.cl").read_text()
SIZES = (0, 1, 5, 40)
SPACES = {
    "items": [((64,), (8,), None), ((7,), None, (5,)), ((1,), None, None)],
    "items_with_loop": [((64,), (8,), None), ((7,), None, (5,)), ((1,), None, None)],
    "items_2d": [((8, 8), (4, 2), None), ((3, 5), None, (2, 1)), ((1, 1), None, None)],
    "items_3d": [((4, 4, 4), (2, 1, 4), None), ((1, 3, 2), None, (1, 0, 2)), ((4, 4, 1), (4, 4, 1), None)],
}


def narrow_words(word_bytes: int = 8):
    """A board with one bank of narrow words: 8 bytes are as wide as the widest access here."""
    board = load_board("de5net")
    timing = replace(board.memory.timing, bus_bits=word_bytes)
    return replace(
        board, memory=replace(board.memory, word_bytes=word_bytes, banks=board.memory.banks[:1], timing=timing)
    )


def launch(kernel: str, n: int, space=((1,), None, None)) -> Launch:
    rng = np.random.default_rng(n)
    if kernel == "narrow":
        buffers = {
            "p": rng.integers(0, 256, 64).astype(np.uint8),
            "q": rng.integers(-999, 999, 64).astype(np.int16),
            "r": np.full(64, 77, np.uint8),
            "s": np.full(64, -1, np.int64),
        }
    else:
        buffers = {name: rng.integers(0, 64, 64).astype(np.int32) for name in ("a", "b", "out", "more")}
    if kernel == "program_variables":
        buffers |= {"kept": np.arange(64, dtype=np.int32), "last": np.full(1, 9, np.int32)}
    return Launch(buffers, {"n": n}, *space, misalign=n % 3)


@pytest.fixture(scope="module", params=[load_board("de5net"), narrow_words()], ids=["wide", "narrow"])
def system(request):
    system = KernelSystem(SOURCE, request.param, choose=chosen(request))
    yield system
    system.close()


@pytest.mark.parametrize("kernel", sorted(set(kernel_names(SOURCE)) - set(SPACES)))
def test_bytes(system, kernel):
    system.check(kernel, [launch(kernel, n) for n in SIZES], (0, 1, 2))


@pytest.mark.parametrize("kernel", SPACES)
def test_index_spaces(system, kernel):
    system.check(kernel, [launch(kernel, 3, space) for space in SPACES[kernel]], (0, 1, 2))
