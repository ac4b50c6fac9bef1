"""An index whose byte offset has more than 64 bits is out of bounds, whatever it is computed from: the emulator and
the interpreter report it, with the location."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir.interpreter import ExecutionError, run_kernel
from hls.ir.launch import IndexSpace
from hls.passes.run_stages import link_program
from sim.emulator import EmulationError, Emulator
from tests.sim.emulator.both import Run, emulated

#: kernels that touch byte ``8 * i`` modulo 2**64, where i is the least number that is refused
WRAPPING = {
    "index": "a[i] = 1;",
    "sum": "a[1 + i - 1] = 1;",
    "far": "a[(1L << 62) + (i - i)] = 1;",
    "literal": "a[4611686018427387904] = 1;",
    "lane": "b[i].s2 = 1;",
    "lanes": "b[i].s13 = (int2)(1);",
    "member": "c[i].y = 1;",
    "list": "c[i].list[2] = 1;",
    "inner": "c[1].list[i] = 1;",
    "packed": "vstore4((int4)(1), i, a);",
    "unpacked": "a[0] = vload2(i, a).y;",
    "halves": "a[0] = vload_half(i, (__global half *)a) > 0;",
    "chain": "__global int *p = a + i / 4; p += i / 4; *p = 1;",
    "quarters": "__global int *p = a; for (int k = 0; k < 4; k++) p += i / 4; p[0] = 1;",
    "steps": "__global int *p = a + i / 4; p = p - (-i / 4); p[1] = 1;",
    "bytes": "__global char *p = (__global char *)a + i; p = p + i; p += i; p += i; *p = 1;",
    "mine": "int t[4]; for (int k = 0; k < 4; k++) t[k] = k; t[i] = 3; a[0] = t[a[0] & 3];",
    "ours": "__local int t[4]; t[i] = 3; a[0] = t[a[0] & 3];",
    "table": "a[0] = primes[i];",
    "rows": "a[0] = grid[1][i];",
    "passed": "store(a + 1, i);",
    "added": "atomic_add(a + i, 1);",
    "read": "a[0] = a[i];",
    "copied": "__local int t[4]; event_t e = async_work_group_strided_copy(t, a, 2, i, 0); wait_group_events(1, &e);",
}
#: the program's own arithmetic may wrap, and pointers may leave their memory on the way
GOOD = {
    "hashed": "__global uchar *p = (__global uchar *)a; p[u * 0xCCCCCCCCCCCCCCCDul] = 7;",
    "scaled": "a[u * 0xCCCCCCCCCCCCCCCDul] = 7;",
    "there_and_back": "__global int *p = a - 1000; p += 1002; *p = 7; a[(i + 3) + (i + i + i)] = 8;",
    "below": "__global int *p = a + 3; p[-1] = 7; p[u - 15ul - 1ul] = 9;",
    "lane_of": "b[(i << 2) + 1].s2 = 7;",
}
HEAD = """__constant int primes[4] = {2, 3, 5, 7};
__constant int grid[2][2] = {{1, 2}, {3, 4}};
typedef struct { int x, y; int list[4]; } record;
void store(__global int *p, long i) { p[i] = 1; }
"""
SOURCE = HEAD + "\n".join(
    f"__kernel void {name}(__global int *a, __global int4 *b, __global record *c, long i, ulong u)\n{{ {body} }}"
    for name, body in (WRAPPING | GOOD).items()
)
FIRST = SOURCE[: SOURCE.index("__kernel")].count("\n") + 2  #: line of the first kernel's body


@pytest.fixture(scope="module")
def module():
    return link_program(parse_source(SOURCE).module)


@pytest.fixture(scope="module")
def emulator(module):
    return Emulator(module)


def buffers():
    return {name: np.arange(24, dtype=np.int32) for name in "abc"}


def line_of(name: str) -> int:
    return (
        FIRST + 2 * list(WRAPPING).index(name) if name != "passed" else HEAD[: HEAD.index("void store")].count("\n") + 1
    )


@pytest.mark.parametrize("name", WRAPPING)
def test_an_offset_that_wraps_is_refused(module, emulator, name):
    i = 1 << 62
    with pytest.raises(EmulationError) as told:
        emulator.run(name, buffers(), {"i": i, "u": 0}, IndexSpace.of((1,)))
    assert told.value.diagnostic.span.line == line_of(name)
    assert "the byte offset of the index has more than 64 bits" in told.value.diagnostic.message
    given = {key: array.view(np.uint8) for key, array in buffers().items()}
    with pytest.raises(ExecutionError, match="a byte offset of more than 64 bits") as said:
        run_kernel(module, name, given, {"i": i, "u": 0})
    assert said.value.span.line == line_of(name)
    assert all(np.array_equal(given[key].view(np.int32)[1:], array[1:]) for key, array in buffers().items())


@pytest.mark.parametrize("name", GOOD)
def test_what_does_not_wrap_is_not(module, emulator, name):
    scalars = {"i": 0 if name == "there_and_back" else 1 << 62 if name == "lane_of" else 0, "u": 15}
    made = emulated(emulator, Run(name, buffers(), scalars))
    given = {key: array.view(np.uint8) for key, array in buffers().items()}
    run_kernel(module, name, given, scalars)
    assert {key: array.tobytes() for key, array in given.items()} == made
    assert any(np.any(np.frombuffer(made[key], np.int32) != array) for key, array in buffers().items())
