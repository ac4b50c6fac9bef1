"""Every built-in function on every type: the front end accepts it, and the emulator computes the same as the
interpreter.

For half the values themselves are compared with mpmath, since no other test looks at functions of half.
"""

import mpmath
import numpy as np
import pytest

from hls.frontend import parse_source
from hls.frontend.library import link
from hls.ir.interpreter import run_kernel
from sim.emulator import Emulator
from tests.sim.emulator.both import ONE_ITEM

from .table import FLOATS, INTEGERS, LENGTHS, calls

HEAD = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
SIZES = {name: bits // 8 for name, bits in (INTEGERS | FLOATS).items()}
KINDS = {1: "1", 2: "2", 4: "4", 8: "8"}


def stored(name: str) -> tuple[str, int]:
    """Element and number of components of a type's name, as it lies in memory."""
    element = name.rstrip("0123456789")
    length = int(name[len(element) :] or 1)
    return element, 4 if length == 3 else length


def kernel(name: str, every) -> tuple[str, dict[str, int]]:
    """A kernel that makes every call, and how many values of each type it writes. Operands lie in ``a_T``, three of
    each type."""
    lines, results, given = [], {}, {}

    def place(t):
        results[t] = results.get(t, -1) + 1
        return f"r_{t}[{results[t]}]"

    for call in every:
        operands = []
        for k, t in enumerate(call.parameters):
            given[t] = None
            operands.append(f"a_{t}[{k}]")
        if call.pointer:
            lines.append(
                f"{call.pointer} p; {place(call.result)} = {call.name}({', '.join(operands)}, &p); "
                f"{place(call.pointer)} = p;"
            )
        else:
            lines.append(f"{place(call.result)} = {call.name}({', '.join(operands)});")
    parameters = [f"__global const {t} *a_{t}" for t in given] + [f"__global {t} *r_{t}" for t in results]
    body = "\n".join(f"  {{ {line} }}" for line in lines)
    return (
        f"__kernel void {name}({', '.join(parameters)}) {{\n{body}\n}}\n",
        given,
        {t: n + 1 for t, n in results.items()},
    )


@pytest.mark.parametrize("element", [*INTEGERS, *FLOATS])
def test_the_front_end_takes_every_call(element):
    text = HEAD + "".join(kernel(f"k{length}", calls(element, length))[0] for length in LENGTHS)
    assert len(parse_source(text, "k.cl").module.kernels) == len(LENGTHS)


def buffers(given, results, seed: int) -> dict[str, np.ndarray]:
    """Operands of moderate size, so that few results are infinite, and zeros for results."""
    rng, found = np.random.default_rng(seed), {}
    for t in given:
        element, length = stored(t)
        if element in FLOATS:
            found[f"a_{t}"] = rng.uniform(0.05, 0.95, 3 * length).astype(f"f{SIZES[element]}")
        else:
            kind = np.dtype(f"{'u' if element.startswith('u') else 'i'}{SIZES[element]}")
            found[f"a_{t}"] = (rng.integers(-(2**63), 2**63 - 1, 3 * length) >> rng.integers(0, 60, 3 * length)).astype(
                kind
            )
    for t, count in results.items():
        element, length = stored(t)
        found[f"r_{t}"] = np.zeros(count * length * SIZES[element], "u1")
    return found


@pytest.fixture(scope="module")
def made():
    """The kernels of every type alone and in pairs, compiled once."""
    kernels = {
        f"k_{element}{length}": kernel(f"k_{element}{length}", calls(element, length))
        for element in (*INTEGERS, *FLOATS)
        for length in (1, 2)
    }
    module = link(parse_source(HEAD + "".join(text for text, *_ in kernels.values()), "k.cl").module)
    return kernels, module, Emulator(module)


@pytest.mark.parametrize("element", [*INTEGERS, *FLOATS])
def test_emulator_and_interpreter_agree(made, element):
    kernels, module, emulator = made
    for length in (1, 2):
        name = f"k_{element}{length}"
        _, given, results = kernels[name]
        here, there = buffers(given, results, 7), buffers(given, results, 7)
        emulator.run(name, here, {}, ONE_ITEM)
        run_kernel(module, name, {n: a.view(np.uint8) for n, a in there.items()}, {}, (1,), max_iterations=1_000_000)
        for buffer, values in here.items():
            np.testing.assert_array_equal(values, there[buffer], err_msg=f"{name}: {buffer}")
        assert any(values.any() for buffer, values in here.items() if buffer.startswith("r_"))


# -- values of half

HALVES = np.array(
    [
        0.0,
        6e-8,
        3e-5,
        6.1e-5,
        1e-3,
        0.0999,
        0.25,
        0.5,
        0.7,
        0.99,
        1.0,
        1.001,
        1.5,
        2.0,
        2.5,
        3.14,
        4.0,
        5.5,
        7.77,
        10.0,
        11.0,
        33.3,
        120.0,
        1000.5,
        6e4,
        65504.0,
    ]
)
HALVES = np.concatenate([HALVES, -HALVES]).astype(np.float16)
UNARY = {
    **{
        name: getattr(mpmath, name)
        for name in str.split(
            "acos acosh asin asinh atan atanh cbrt cos cosh cospi erf erfc exp expm1 log log10 log1p sin sinh "
            "sinpi sqrt tan tanh degrees radians"
        )
    },
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "exp10": lambda x: mpmath.mpf(10) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "tgamma": mpmath.gamma,
    "acospi": lambda x: mpmath.acos(x) / mpmath.pi,
    "asinpi": lambda x: mpmath.asin(x) / mpmath.pi,
    "atanpi": lambda x: mpmath.atan(x) / mpmath.pi,
    "tanpi": lambda x: mpmath.tan(x * mpmath.pi),
}
#: arguments for which the real function has no value: the result is a NaN, or an infinity that other tests look at
ODD = {
    "tgamma": lambda x: x <= 0 and x == int(x),
    "log": lambda x: x <= 0,
    "log2": lambda x: x <= 0,
    "log10": lambda x: x <= 0,
    "rsqrt": lambda x: x <= 0,
    "atanh": lambda x: abs(x) >= 1,
    "log1p": lambda x: x <= -1,
    "tanpi": lambda x: (2 * x) % 2 == 1,
}


def test_functions_of_half_round_once_more_than_those_of_float():
    """Within 0.51 ULP of the exact value, as the float function's error is far below; degrees and radians are one
    product with a rounded constant."""
    lines = "\n".join(f"    r[{k * len(HALVES)} + i] = {name}(x[i]);" for k, name in enumerate(UNARY))
    text = (
        f"{HEAD}__kernel void k(__global const half *x, __global half *r, int n) {{ for (int i = 0; i < n; i++) "
        f"{{\n{lines}\n}} }}\n"
    )
    found = np.zeros(len(UNARY) * len(HALVES), np.float16)
    Emulator(link(parse_source(text, "k.cl").module)).run("k", {"x": HALVES, "r": found}, {"n": len(HALVES)}, ONE_ITEM)
    for (name, function), row in zip(UNARY.items(), found.reshape(len(UNARY), -1)):
        for x, got in zip(HALVES.tolist(), row.tolist()):
            if not ODD.get(name, lambda x: False)(x):
                check_half(
                    name,
                    x,
                    got,
                    mpmath.cbrt(x)
                    if name == "cbrt" and x >= 0
                    else -mpmath.cbrt(-x)
                    if name == "cbrt"
                    else function(mpmath.mpf(x)),
                )


def check_half(name, x, got, exact):
    where = f"{name}({x}) is {got}, not {exact}"
    if isinstance(exact, mpmath.mpc) and exact.imag:
        assert np.isnan(got), where
        return
    exact = mpmath.re(exact)
    if abs(exact) >= 65520:
        assert np.isinf(got) and (got > 0) == (exact > 0), where
        return
    exponent = max(int(mpmath.floor(mpmath.log(abs(exact), 2))), -14) if exact else -14
    allowed = 2 if name in ("degrees", "radians") else 0.51
    assert abs(got - exact) <= allowed * mpmath.mpf(2) ** (exponent - 10), where


def test_the_next_half_and_a_half_that_is_no_number():
    text = (
        f"{HEAD}__kernel void k(__global const half *x, __global const half *y, __global half *r, __global half2 *w, "
        f"__global const ushort2 *c, int n) {{\n"
        "for (int i = 0; i < n; i++) r[i] = nextafter(x[i], y[i]); w[0] = nan(c[0]); r[n] = nan((ushort)5); }\n"
    )
    x, y = (grid.reshape(-1) for grid in np.meshgrid(np.append(HALVES, [np.inf, -np.inf, np.nan]), HALVES))
    x, y = x.astype(np.float16), y.astype(np.float16)
    found, wide = np.zeros(len(x) + 1, np.float16), np.zeros(2, np.float16)
    module = link(parse_source(text, "k.cl").module)
    Emulator(module).run(
        "k", {"x": x, "y": y, "r": found, "w": wide, "c": np.array([1, 0xFFFF], "u2")}, {"n": len(x)}, ONE_ITEM
    )
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(found[:-1], np.nextafter(x, y))
    assert np.isnan([*wide, found[-1]]).all()
