"""Elements of arrays at a stepping index are loaded ahead, as those of buffers on the chip: the same results, and the
II that is left."""

import numpy as np
import pytest
from merging import outcome

from hls.frontend import parse_source
from hls.ir import Module, is_early, memory_name, walk
from tests.kernels.system import Launch
from tests.plans import planned

BOARD = "de5net"
HEAD = "__global const int *restrict in, __global int *restrict out, int n, int m"
FILLED = "int a[64]; for (int k = 0; k < 64; k++) a[k] = in[k]; "
#: the loop, the II without early loads, at least, and with
FASTER = {
    "moved_in_a_branch": "int i = 0; for (int k = 0; k < n; k++) { out[k] = a[i]; if (a[i] > m) i++; }",
    # the loads ahead leave the array
    "up_to_the_end": "int i = 63 - n; for (int k = 0; k < n; k++) { int x = a[i]; out[k] = x; i += x > m ? 1 : 0; }",
    "two_runs": (
        "int i = 0, j = 32; for (int k = 0; k < n; k++) { int x = a[i], y = a[j]; out[k] = x < y ? x : y; "
        "if (x < y) i++; else j++; }"
    ),
}
KEPT = {
    "stored": "int i = 0; for (int k = 0; k < n; k++) { int x = a[i]; a[k & 63] = x ^ k; out[k] = x; if (x > m) i++; }",
    "any_step": "int i = 0; for (int k = 0; k < n; k++) { int x = a[i]; out[k] = x; i = (i + x) & 63; }",
    # a buffer in external memory is no array
    "buffer": "int i = 0; for (int k = 0; k < n; k++) { out[k] = a[k & 63]; i += in[i & 63] > m ? 1 : 2; }",
}
SOURCE = "\n".join(f"__kernel void {name}({HEAD}) {{ {FILLED}{body} }}" for name, body in (FASTER | KEPT).items())


@pytest.fixture(scope="module")
def kernels():
    return planned(SOURCE, BOARD)


def early(kernel) -> list[str]:
    return [memory_name(op) for op in walk(kernel.function.body) if is_early(op)]


@pytest.mark.parametrize("name", FASTER)
def test_elements_of_arrays_are_loaded_ahead(kernels, name):
    assert set(early(kernels[name])) == {"a"}
    slowest = max(region.ii for region in kernels[name].plan.loops.values())
    assert slowest <= 2


@pytest.mark.parametrize("name", KEPT)
def test_other_loads_stay(kernels, name):
    assert "a" not in early(kernels[name])


@pytest.mark.parametrize("name", FASTER | KEPT)
def test_same_results(kernels, name):
    module = parse_source(SOURCE, "k.cl", {}, []).module
    alone = Module({name: module.functions[name]}, module.sources, module.channels)
    rng = np.random.default_rng(7)
    for n in (0, 1, 30):
        given = {"in": rng.integers(-50, 50, 64).astype(np.int32), "out": np.zeros(64, np.int32)}
        launch = Launch(given, {"n": n, "m": 3})
        assert outcome(kernels[name].function, launch) == outcome(alone, launch)
