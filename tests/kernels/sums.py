"""Reference results of the kernels of sums.cl: the sum is exact, and rounded once."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np

from hls.ir.exact import flushed, rounded
from hls.ir.values import bits_to_float
from tests.kernels.system import Launch

SOURCE = (Path(__file__).parent / "sums.cl").read_text()
FORMATS = {"float": (np.float32, 32, 8), "half": (np.float16, 16, 5)}
#: the type of each kernel of sums.cl, and whether it has a sum that begins with what it finds
KERNELS = {
    "total": "float",
    "of_fixed_length": "float",
    "guarded": "float",
    "both": "float",
    "in_turn": "float",
    "halves": "half",
}
#: what random numbers are among, by name
KINDS = ("any", "near", "cancelling", "subnormal", "overflowing", "minus_zero", "infinite", "opposite", "nan")


def exact_sum(terms, bits: int, flush: bool = False):
    """The sum as IEEE 754 would round it once; of nothing but -0 it is -0."""
    terms = [flushed(float(x), bits) if flush else float(x) for x in terms]
    endless = {x for x in terms if math.isinf(x)}
    if any(math.isnan(x) for x in terms) or len(endless) > 1:
        return math.nan
    if endless:
        return endless.pop()
    total = sum(map(Fraction, terms))
    if total == 0:
        return -0.0 if all(math.copysign(1, x) < 0 for x in terms) else 0.0
    return flushed(rounded(total, bits), bits) if flush else rounded(total, bits)


def numbers(kind: str, count: int, form: str, seed: int) -> np.ndarray:
    """Numbers of a format: with exponents of every size, or within 12 of each other, or as the name says."""
    dtype, bits, exponent = FORMATS[form]
    rng, fraction = np.random.default_rng([seed, KINDS.index(kind)]), bits - exponent - 1
    top = (1 << exponent) - 2
    low, high = {"subnormal": (0, 1), "overflowing": (top - 1, top), "near": (top // 2 - 6, top // 2 + 6)}.get(
        kind, (0, top)
    )
    exponents = rng.integers(low, high + 1, count)
    words = [
        int(rng.integers(0, 2)) << bits - 1 | int(e) << fraction | int(rng.integers(0, 1 << fraction))
        for e in exponents
    ]
    values = np.array([bits_to_float(word, bits) for word in words], dtype)
    if kind == "cancelling":
        values[count // 2 : count // 2 * 2] = -values[: count // 2]
        values[-1] = rng.normal()
        rng.shuffle(values)
    if kind == "minus_zero":
        values[:] = -0.0
    for k, special in enumerate(
        {"infinite": (math.inf,), "opposite": (math.inf, -math.inf), "nan": (math.nan,)}.get(kind, ())
    ):
        values[(7 * k + seed) % count] = special
    return values


def launch(kernel: str, kind: str, n: int, seed: int = 0) -> Launch:
    form = KERNELS[kernel]
    return Launch(
        {"a": numbers(kind, max(2 * n, 48), form, seed), "out": numbers(kind, 8, form, seed + 1)},
        {"n": n if kernel != "of_fixed_length" else n % 8},
    )


def expected(kernel: str, one: Launch, flush: bool = False) -> np.ndarray:
    """``out`` after a run, with every sum exact."""
    a, out, n = one.buffers["a"].astype(float), one.buffers["out"].copy(), one.scalars["n"]
    flush &= out.dtype == np.float32

    def total(start, terms):
        return exact_sum([start, *terms], 8 * out.itemsize, flush)

    match kernel:
        case "total":
            out[0] = total(0.0, a[:n])
        case "of_fixed_length":
            out[0] = total(-0.0, a[n : n + 40])
        case "guarded":
            out[0] = total(0.0, [a[i] if i & 3 else -0.0 for i in range(n)])
        case "both":
            out[0], out[1] = total(out[0], a[:n]), total(2.5, -a[:n])
        case "in_turn":
            out[0] = total(total(0.0, a[:n]), -a[n : 2 * n])
        case "halves":
            out[0], out[1] = total(-0.0, a[:n]), total(out[1], -a[:n])
    return out


def same_bits(found, wanted) -> bool:
    """Whether two arrays of floats are the same, where every NaN is."""
    bits = np.dtype(f"u{found.itemsize}")
    return bool(((found.view(bits) == wanted.view(bits)) | np.isnan(found) & np.isnan(wanted)).all())
