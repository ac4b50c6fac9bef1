"""How addresses of small kernels change with each loop (affine access analysis)."""

import pytest

from hls.analysis.memory.strides import Step, access_patterns
from hls.frontend import parse_source
from hls.passes.recurrence.look_ahead_control import LookAheadControl
from hls.passes.run_stages import optimize
from hls.planning.schedule import OperatorTiming
from hls.target.board import load_board

pytestmark = pytest.mark.usefixtures("where_written")
IRREGULAR, UNKNOWN = Step(None, regular=False), Step(None)


def steps(text, ahead=False):
    """The steps of the kernel's first load, innermost loop first."""
    (kernel,) = optimize(parse_source(text, "k.cl", {}, []).module).kernels
    if ahead:
        kernel = LookAheadControl(OperatorTiming.of(load_board("de5net"))).run(kernel)
    pattern = next(p for op, p in access_patterns(kernel).items() if op.opcode == "load")
    return [step for _, step in pattern.steps]


def nest(address, before="", after=""):
    return f"""__kernel void k(__global const int *restrict a, __global const int *restrict p,
                               __global int *restrict out, int n, int m)
    {{
        int q = 0;
        #pragma unroll 1
        for (int i = 0; i < n; i++) {{
            int s = 0;
            {before}
            #pragma unroll 1
            for (int j = 0; j < m; j++) {{ s += a[{address}]; {after} }}
            out[i] = s;
        }}
    }}"""


@pytest.mark.parametrize("ahead", [False, True], ids=["plain", "looking ahead"])
@pytest.mark.parametrize(
    "address, expected",
    [
        ("j", [Step(4), Step(0)]),
        ("i", [Step(0), Step(4)]),
        ("3 * j + i", [Step(12), Step(4)]),
        ("i - j", [Step(-4), Step(4)]),
        ("i * m + j", [Step(4), UNKNOWN]),
        ("j * n + i", [UNKNOWN, Step(4)]),
        ("(j << 4) + 5", [Step(64), Step(0)]),
        ("7", [Step(0), Step(0)]),
        ("j * j", [IRREGULAR, Step(0)]),
        ("j & 15", [Step(4), Step(0)]),  # but for where it starts again
        ("j > 5 ? j : 9 - j", [IRREGULAR, Step(0)]),
    ],
)
def test_sums(address, expected, ahead):
    assert steps(nest(address), ahead) == expected


def test_a_start_read_from_memory_makes_only_the_outer_loop_irregular():
    text = nest("j").replace("int j = 0", "int j = p[i]")
    kernel = optimize(parse_source(text, "k.cl", {}, []).module).kernels[0]
    patterns = [p for op, p in access_patterns(kernel).items() if op.opcode == "load"]
    assert [s for _, s in patterns[0].steps] == [Step(4)]
    assert [s for _, s in patterns[1].steps] == [Step(4), IRREGULAR]


def test_an_increment_that_is_an_argument():
    text = nest("j").replace("j++", "j += n")
    assert steps(text) == [UNKNOWN, Step(0)]


def test_an_address_read_from_memory_is_irregular():
    text = nest("p[j]")
    kernel = optimize(parse_source(text, "k.cl", {}, []).module).kernels[0]
    by_memory = {op.operands[0].op.attrs["mem"]: [s for _, s in p.steps] for op, p in access_patterns(kernel).items()}
    assert by_memory["p"] == [Step(4), Step(0)]
    assert by_memory["a"][0] == IRREGULAR


@pytest.mark.parametrize(
    "address, expected",
    [
        ("get_global_id(0)", Step(4)),
        ("get_global_id(1) * 64 + get_global_id(0)", Step(4)),
        ("get_global_id(1)", Step(0)),  # but for the first work-item of each row
    ],
)
def test_work_items(address, expected):
    text = f"""__kernel void k(__global const int *restrict a, __global int *restrict out)
    {{ out[get_global_id(1) * 64 + get_global_id(0)] = a[{address}]; }}"""
    assert steps(text)[0] == expected
