"""Kernels written like those of public programs (the folder wild), by PoCL, and here as output by the frontend, after
the passes and on the emulator.

Code that PoCL does not accept, such as pointers without an address space that point anywhere, is compiled as C
instead (the folder wild/c).
"""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from pocl import check_here, compare, pocl_context, run_both

from hls.frontend import parse_source
from hls.ir.launch import IndexSpace
from sim.emulator import Emulator

WILD = Path(__file__).parent / "wild"
KERNEL = (
    "#define KERNEL __kernel void k(__global const int *a, __global const float *f, __global int *o, __global "
    "float *g, int n)\n"
)
AS_C = """#define KERNEL void k(const int *a, const float *f, int *o, float *g, int n)
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <string.h>
#define __global
#define __local
#define __constant static const
#define __private
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
"""


@pytest.fixture(scope="module")
def context():
    return pocl_context()


def arguments(n: int) -> dict:
    rng = np.random.default_rng(n)
    return {
        "a": rng.integers(-99, 99, 64, "i4"),
        "f": (rng.integers(-512, 512, 64) / 8).astype("f4"),
        "o": np.full(64, -7, "i4"),
        "g": np.full(64, 0.25, "f4"),
        "n": np.int32(n),
    }


def emulated(expected: dict, source: str, name: str, n: int):
    """AssertionError where the emulator leaves other bytes than expected."""
    given = arguments(n)
    Emulator(parse_source(source, f"{name}.cl").module, hasty=True).run("k", given, {"n": n}, IndexSpace.of((1,)))
    compare(expected, given, f"{name} on the emulator")


def compiled_as_c(source: str, folder: Path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (folder / "k.c").write_text(AS_C + source)
    subprocess.run(
        [
            compiler,
            "-std=gnu11",
            "-O1",
            "-w",
            "-fwrapv",
            "-fno-strict-aliasing",
            "-ffp-contract=off",
            "-fsigned-char",
            "-shared",
            "-fPIC",
            "-o",
            folder / "k.so",
            folder / "k.c",
        ],
        check=True,
    )
    return ctypes.CDLL(str(folder / "k.so"))


def run_c(library, n: int) -> dict:
    given = arguments(n)
    pointers = {name: array.ctypes.data_as(ctypes.c_void_p) for name, array in given.items() if name != "n"}
    library.k(*pointers.values(), ctypes.c_int(n))
    return {name: given[name] for name in pointers}


@pytest.mark.parametrize("path", sorted(WILD.glob("*.cl")), ids=lambda p: p.stem)
def test_the_same_bytes_as_pocl(context, path):
    source = KERNEL + path.read_text()
    for n in (5, 8):
        expected = run_both(context, source, "k", arguments(n))
        emulated(expected, source, path.stem, n)


@pytest.mark.parametrize("path", sorted(WILD.glob("c/*.cl")), ids=lambda p: p.stem)
def test_the_same_bytes_as_c(path, tmp_path):
    source, library = path.read_text(), compiled_as_c(path.read_text(), tmp_path)
    for n in (5, 8):
        expected = run_c(library, n)
        check_here(expected, KERNEL + source, "k", arguments(n))
        emulated(expected, KERNEL + source, path.stem, n)
