"""convert_T with every rounding and with _sat, between all types of numbers, against exact rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hls.frontend import parse_source
from rtl_lib.fp.format import BINARY16, BINARY32, BINARY64, round_rational
from sim.emulator import Emulator
from tests.sim.emulator.both import ONE_ITEM

from .table import FLOATS, INTEGERS

HEAD = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
FORMATS = {"half": BINARY16, "float": BINARY32, "double": BINARY64}
ROUNDINGS = {"": None, "_rte": "even", "_rtz": "zero", "_rtp": "up", "_rtn": "down"}
EDGES = [
    0,
    1,
    2,
    3,
    5,
    7,
    126,
    127,
    128,
    129,
    254,
    255,
    256,
    2**15 - 1,
    2**15,
    2**16 - 1,
    2**16,
    2**24 + 1,
    2**24 + 3,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**53 + 1,
    2**53 + 3,
    2**63 - 1,
    2**63,
    2**64 - 1,
    65519,
    65520,
    2049,
    2051,
]
PARTS = [
    0.5,
    1.5,
    2.5,
    0.1,
    0.9,
    126.5,
    127.5,
    254.5,
    255.5,
    6e-8,
    2e-8,
    1e-40,
    1e-300,
    1e30,
    3.5e38,
    1e300,
    65519.9,
    32767.5,
    2147483647.5,
    float("inf"),
    float("nan"),
]


def names(target: str) -> list[str]:
    return [
        f"convert_{target}{sat}{rounding}"
        for sat in (("", "_sat") if target in INTEGERS else ("",))
        for rounding in ROUNDINGS
    ]


def dtype(name: str) -> np.dtype:
    sort = "f" if name in FLOATS else "u" if name.startswith("u") else "i"
    return np.dtype(f"{sort}{(INTEGERS | FLOATS)[name] // 8}")


def given(source: str) -> np.ndarray:
    """Numbers of both signs next to the limits of all types, those that the type has."""
    if source in INTEGERS:
        limits = np.iinfo(dtype(source))
        return np.array(
            sorted({x for e in EDGES for x in (e, -e, -e - 1) if limits.min <= x <= limits.max}), dtype(source)
        )
    with np.errstate(over="ignore", under="ignore"):
        return np.array([*map(float, EDGES), *PARTS, *(-float(e) for e in EDGES), *(-x for x in PARTS)]).astype(
            dtype(source)
        )


def kernel(source: str) -> str:
    parameters = [f"__global {t} *r_{t}" for t in INTEGERS | FLOATS]
    lines = [f"r_{t}[{k} * n + i] = {name}(x[i]);" for t in INTEGERS | FLOATS for k, name in enumerate(names(t))]
    body = "\n  ".join(lines)
    return (
        f"__kernel void from_{source}(__global const {source} *x, {', '.join(parameters)}, int n) {{ for (int i = "
        f"0; i < n; i++) {{\n  {body}\n}} }}\n"
    )


@pytest.fixture(scope="module")
def emulator():
    return Emulator(parse_source(HEAD + "".join(map(kernel, INTEGERS | FLOATS)), "k.cl").module)


@pytest.mark.parametrize("source", INTEGERS | FLOATS)
def test_every_conversion(emulator, source):
    x = given(source)
    results = {t: np.zeros(len(names(t)) * len(x), dtype(t)) for t in INTEGERS | FLOATS}
    emulator.run(f"from_{source}", {"x": x, **{f"r_{t}": r for t, r in results.items()}}, {"n": len(x)}, ONE_ITEM)
    for t, found in results.items():
        for name, row in zip(names(t), found.reshape(len(names(t)), -1)):
            for value, got in zip(x.tolist(), row.tolist()):
                want = expected(source, t, name, value)
                assert got == want or (math.isnan(got) and math.isnan(want)), (
                    f"{name}({source} {value!r}) gives {got!r}, not {want!r}"
                )


def expected(source: str, target: str, name: str, value):
    suffix = name.rsplit("_", 1)[1]
    mode = ROUNDINGS.get(f"_{suffix}") or ("even" if target in FLOATS else "zero")
    if target in FLOATS:
        return to_float(FORMATS[target], value, mode, dtype(target))
    if math.isnan(value):
        return 0
    limits = np.iinfo(dtype(target))
    exact = (
        value if source in INTEGERS else None if abs(value) == float("inf") else round_rational(Fraction(value), mode)
    )
    if source in INTEGERS and "_sat" not in name:  # the low bits
        bits = INTEGERS[target]
        low = exact & (1 << bits) - 1
        return low - (1 << bits) if limits.min < 0 and low >> bits - 1 else low
    if exact is None:
        return limits.max if value > 0 else limits.min
    return max(limits.min, min(limits.max, exact))


def to_float(fmt, value, mode, kind):
    if not math.isfinite(value):
        return float(value)
    bits = fmt.round(Fraction(value), str(value).startswith("-"), mode)
    return float(np.array([bits], f"u{kind.itemsize}").view(kind)[0])
