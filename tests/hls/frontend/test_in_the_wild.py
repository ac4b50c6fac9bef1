"""Kernels as programs in the wild write them (the folder wild), with PoCL, as the frontend made them, after the passes and on the emulator."""

from pathlib import Path

import numpy as np
import pytest
from pocl import compare, pocl_context, run_both

from hls.frontend import parse_source
from hls.ir.launch import IndexSpace
from sim.emulator import Emulator

FILES = sorted((Path(__file__).parent / "wild").glob("*.cl"))
KERNEL = "#define KERNEL __kernel void k(__global const int *a, __global const float *f, __global int *o, __global float *g, int n)\n"


@pytest.fixture(scope="module")
def context():
    return pocl_context()


def arguments(n: int) -> dict:
    rng = np.random.default_rng(n)
    return {"a": rng.integers(-99, 99, 64, "i4"), "f": (rng.integers(-512, 512, 64) / 8).astype("f4"),
            "o": np.full(64, -7, "i4"), "g": np.full(64, 0.25, "f4"), "n": np.int32(n)}


def agree(context, source: str, name: str):
    """AssertionError where one of the four differs from PoCL."""
    source = KERNEL + source
    for n in (5, 8):
        expected = run_both(context, source, "k", arguments(n))
        given = arguments(n)
        Emulator(parse_source(source, f"{name}.cl").module, hasty=True).run("k", given, {"n": n}, IndexSpace.of((1,)))
        compare(expected, given, f"{name} on the emulator")


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_same_bytes(context, path):
    agree(context, path.read_text(), path.stem)
