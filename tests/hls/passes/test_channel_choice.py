"""Channels selected at run time: which calls they expand to, and on which channels."""

import pytest

from hls.diag import CompileError
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.ir.rewrite import constant
from hls.options import Options
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import link_program, optimize
from hls.planning.memory import plan_channels
from hls.target.board import load_board

CHANNELS = "channel int many[8]; channel int grid[2][4]; channel int one;\n"
BOARD = load_board("de5net")


def places(index: str, array: str = "many", before: str = "", attributes: str = "", head: str = "") -> list[int]:
    """The numbers of the channels that a call in a loop is made on."""
    body = f"for (int i = 0; i < n; i++) {{ {before} write_channel_intel({array}{index}, i); }}"
    module = parse_source(
        f"{CHANNELS}{head}{attributes}__kernel void k(__global const int *restrict p, int n) {{ {body} }}"
    ).module
    (kernel,) = optimize(link_program(module), PipelineOptions()).kernels
    calls = [op for op in walk(kernel.body) if op.opcode == "channel_write"]
    return [constant(op.operands[0]) for op in calls]


@pytest.mark.parametrize(
    "index, wanted",
    [
        ("[i % 4]", [0, 1, 2, 3]),
        ("[(i + 1) % 3 + 2]", [2, 3, 4]),
        ("[i & 5]", [0, 1, 4, 5]),
        ("[2 * (i & 3)]", [0, 2, 4, 6]),
        ("[p[i] & 1 ? 7 : 2]", [2, 7]),
        ("[(uchar)p[i] % 2]", [0, 1]),
        ("[p[i]]", list(range(8))),
        ("[n > 4 ? 4 : i & 1]", [0, 1, 4]),
        ("[get_local_id(0)]", list(range(4))),
        ("[p[i] % 3 + 2]", [0, 1, 2, 3, 4]),  # a remainder of negative numbers is negative
    ],
)
def test_calls_on_the_channels_that_the_index_can_be(index, wanted):
    attributes = "__attribute__((reqd_work_group_size(4, 1, 1))) " if "local" in index else ""
    assert places(index, attributes=attributes) == wanted


@pytest.mark.parametrize(
    "index, wanted",
    [
        ("[0][i % 4]", [0, 1, 2, 3]),
        ("[1][p[i]]", [4, 5, 6, 7]),
        ("[i & 1][2]", [2, 6]),
        ("[p[i]][p[i + 1] & 1]", [0, 1, 4, 5]),
    ],
)
def test_an_index_stays_in_its_dimension(index, wanted):
    """So a row can belong to one kernel, and the next one to another."""
    assert places(index, "grid") == wanted


def test_rows_of_a_helper_stay_apart():
    head = "void put(channel int row[4], int k, int x) { write_channel_intel(row[k], x); }\n"
    module = parse_source(
        f"{CHANNELS}{head}__kernel void k(__global const int *restrict p, int n) {{ for (int i = 0; i < n; i++) "
        f"put(grid[1], p[i], i); }}"
    ).module
    (kernel,) = optimize(link_program(module), PipelineOptions()).kernels
    assert [constant(op.operands[0]) for op in walk(kernel.body) if op.opcode == "channel_write"] == [4, 5, 6, 7]


def test_unrolling_still_makes_indices_constants():
    assert places("[u]", before='_Pragma("unroll") for (int u = 0; u < 3; u++)') == [0, 1, 2]


@pytest.mark.parametrize(
    "body, ii",
    [
        ("write_channel_intel(many[i % 4], p[i]);", 1),
        ("s += read_channel_intel(many[i & 7]);", 1),
        ("bool v; int x = read_channel_nb_intel(many[p[i] & 7], &v); if (v) s ^= x;", 1),
        ("if (write_channel_nb_intel(many[i & 3], i)) s++;", 1),
    ],
)
def test_all_calls_of_a_choice_are_made_at_once(body, ii):
    source = (
        f"{CHANNELS}__kernel void k(__global int *restrict p, __global int *restrict o, int n) {{ int s = 0; "
        f"for (int i = 0; i < n; i++) {{ {body} }} o[0] = s; }}"
    )
    (kernel,), _ = plan_module(link_program(parse_source(source).module), BOARD, Options())
    (loop,) = kernel.plan.loops.values()
    calls = [point for op, point in loop.place.items() if op.opcode.startswith("channel")]
    assert len(calls) in (4, 8) and len({(point.level, point.stage) for point in calls}) == 1 and loop.ii == ii


@pytest.mark.parametrize(
    "index, message, hint",
    [
        ("many[8 + (i & 3)]", "'many': there is no channel 8: the array has 8", "check the index"),
        (
            "grid[1][4 + (i & 3)]",
            "'grid': an index is outside its dimension of the array, which has 8 channels in all",
            "check the index",
        ),
    ],
)
def test_an_index_that_is_never_one_of_the_array(index, message, hint):
    with pytest.raises(CompileError) as error:
        optimize(
            link_program(
                parse_source(
                    f"{CHANNELS}__kernel void k(int n) {{ for (int i = 0; i < n; i++) write_channel_intel({index}, "
                    f"i); }}"
                ).module
            )
        )
    (told,) = error.value.diagnostics
    assert message == told.message and hint in told.hint and told.span.line == 2


def test_what_helps_where_another_kernel_has_a_channel_of_the_choice():
    source = (
        CHANNELS
        + """__kernel void w(int n) { for (int i = 0; i < n; i++) write_channel_intel(many[n], i); }
        __kernel void v(int n) { write_channel_intel(many[7], n); }
        __kernel void r(__global int *o, int n) { for (int i = 0; i < n; i++) o[i] = read_channel_intel(many[i & 7]); }"""
    )
    module = optimize(link_program(parse_source(source).module))
    with pytest.raises(CompileError) as error:
        plan_channels(module.channels, module.kernels, BOARD)
    (told,) = error.value.diagnostics
    assert (
        told.message == "channel 'many[7]' is written by kernel v, and by kernel w (line 2)"
        and "if the index never comes to it" in told.hint
    )
