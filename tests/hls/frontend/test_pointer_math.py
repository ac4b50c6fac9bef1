"""Functions with a second result through a pointer, against PoCL and numpy, with special values among their
arguments."""

import numpy as np
import pytest
from pocl import pocl_context, run_both, run_here

from hls.frontend import parse_source


@pytest.fixture(scope="module")
def context():
    return pocl_context()


EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.5,
    -2.5,
    0.99999994,
    -1e-9,
    3e38,
    1e-41,
    -1.4e-45,
    1.17549435e-38,
    np.inf,
    -np.inf,
    np.nan,
]

FLOATS = """
int calls(__local int *n) { return n[0]++; }
__kernel void k(__global float *x, __global float *o, __global int *e, __global float4 *v, __global double *d) {
    __local int count[1]; count[0] = 0;
    for (int i = 0; i < 40; i++) {
        float whole; int n; o[4 * i] = fract(x[i], &whole); o[4 * i + 1] = whole;
        o[4 * i + 2] = modf(x[i], o + 4 * i + 3); o[160 + i] = frexp(x[i], &n); e[i] = n;
    }
    float4 w; v[1] = modf(v[0], &w); v[2] = w; int4 m; v[3] = frexp(v[0], &m); v[4] = convert_float4(m);
    double f; d[1] = fract(d[0], &f); d[2] = f; int p; d[3] = frexp(d[0], &p); d[4] = p;
    int twice[3]; o[200] = frexp(x[20 + calls(count)], &twice[calls(count)]); e[40] = twice[1] + 100 * count[0];
}
"""


def test_parts(context):
    rng = np.random.default_rng(1)
    x = np.array([*EDGES, *(rng.standard_normal(24) * 10.0 ** rng.integers(-3, 6, 24))], "f4")
    run_both(
        context,
        FLOATS,
        "k",
        {
            "x": x,
            "o": np.zeros(201, "f4"),
            "e": np.zeros(41, "i4"),
            "v": np.array([1.75, -2.5, 9e-40, 100], "f4").repeat(5),
            "d": np.array([-1234.56789, 0, 0, 0, 0]),
        },
    )


PAIRS = """
__kernel void k(__global float *x, __global float *y, __global float *o, __global int *q) {
    for (int i = 0; i < 40; i++) { float c; o[3 * i] = sincos(x[i], &c); o[3 * i + 1] = c; o[3 * i + 2] = remquo(x[i], y[i], q + i); }
}
"""


def test_sincos_and_remquo():
    rng = np.random.default_rng(2)
    x, y = (rng.standard_normal(40).astype("f4") * np.float32(30) for _ in range(2))
    y[:8] = [7, -7, 0.1, 1e-3, 3, 3, -3, 1e6]
    x[:8] = [3.5, 24.5, 1e6, 3, -7, 7, 7.5, 1.0]
    module = parse_source(PAIRS, "k.cl").module
    found = run_here(module, "k", {"x": x, "y": y, "o": np.zeros(120, "f4"), "q": np.zeros(40, "i4")}, (1,))
    sine, cosine, rest = found["o"].reshape(40, 3).T
    np.testing.assert_allclose(sine, np.sin(x.astype("f8")), atol=1e-6)
    np.testing.assert_allclose(cosine, np.cos(x.astype("f8")), atol=1e-6)
    a, b = x.astype("f8"), y.astype("f8")
    quotient = np.rint(a / b)
    np.testing.assert_array_equal(rest, (a - quotient * b).astype("f4"))
    np.testing.assert_array_equal(found["q"], np.sign(quotient) * (np.abs(quotient).astype("i8") & 127))


def test_the_pointer_must_fit():
    with pytest.raises(Exception, match="the last argument of frexp must point to 'int'"):
        parse_source("__kernel void k(__global float *x) { float n; x[0] = frexp(x[1], &n); }", "k.cl")
