"""The output of printf, against the C library of this machine."""

import ctypes
import random

import pytest

from hls.ir.text import formatted
from hls.ir.types import FloatType, IntType

#: flags that C gives a meaning with each conversion
FLAGS = {"d": "-+ 0", "i": "-+ 0", "u": "-0", "o": "-#0", "x": "-#0", "X": "-#0", "c": "-"} | dict.fromkeys(
    "fFeEgGaA", "-+ #0"
)
REALS = [0.0, -0.0, 1.0, 1.5, -2.25, 1.9999999, float("inf"), float("-inf"), float("nan"), 5e-324, 2.5, 3.5]


def case(rng: random.Random):
    """A format and a value for it."""
    kind = rng.choice("".join(FLAGS))
    flags = "".join(flag for flag in FLAGS[kind] if rng.random() < 0.3)
    width, precision = (
        rng.choice(["", "", "1", "5", "12", "30"]),
        rng.choice(["", "", ".", ".0", ".1", ".3", ".9", ".17"]),
    )
    if kind == "c":
        return f"%{flags}{width}c", rng.randint(33, 126)
    if kind in "diouxX":
        return f"%{flags}{width}{precision}{kind}", rng.choice(
            [0, 1, -1, 8, 255, rng.getrandbits(32) - (1 << 31), rng.getrandbits(8)]
        )
    return f"%{flags}{width}{precision}{kind}", rng.choice(
        [*REALS, rng.uniform(-9, 9), rng.uniform(-1, 1) * 10.0 ** rng.randint(-40, 40)]
    )


@pytest.mark.parametrize("seed", range(4))
def test_as_the_c_library(seed):
    rng, library, buffer = random.Random(seed), ctypes.CDLL(None), ctypes.create_string_buffer(500)
    for _ in range(1500):
        form, value = case(rng)
        real = isinstance(value, float)
        library.snprintf(buffer, 500, form.encode(), ctypes.c_double(value) if real else ctypes.c_int(value))
        found = formatted(form, [value if real else value & 0xFFFFFFFF], [FloatType(64) if real else IntType(32)])
        assert found == buffer.value.decode(), (form, value)


def test_texts_and_percent_signs():
    assert formatted("%s|%5s|%-5s|%.2s|100%%", ["abc"] * 4, [IntType(8)] * 4) == "abc|  abc|abc  |ab|100%"
