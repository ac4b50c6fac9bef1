"""Depths of channels on reconvergent paths."""

import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.planning.memory import plan_channels
from hls.planning.schedule import balance_channels
from hls.target.board import load_board

BOARD = load_board("de5net")
LATENCY = BOARD.memory.read_latency
DECLARED = "channel int a, b, c, d;\nchannel int given __attribute__((depth(7)));\n"


def loop(name: str, body: str) -> str:
    return f"__kernel void {name}(__global int *restrict p, int n) {{ for (int i = 0; i < n; i++) {{ {body} }} }}\n"


def balanced(*kernels: str) -> dict:
    module = parse_source(DECLARED + "".join(kernels)).module
    planned, _ = plan_module(module, BOARD, Options())
    channels = plan_channels(module.channels, [k.function for k in planned], BOARD)
    return {c.name: c for c in balance_channels(channels, [k.plan for k in planned], LATENCY)}


PASS = loop("middle", "write_channel_intel(c, read_channel_intel(a));")


def test_a_row_of_kernels_needs_nothing():
    found = balanced(
        loop("first", "write_channel_intel(a, p[i]);"), PASS, loop("last", "p[i] = read_channel_intel(c);")
    )
    assert {c.depth for c in found.values()} == {2}


def test_the_shorter_path_is_as_deep_as_the_longer_one_is_long():
    """The value that goes straight waits for the one that goes by a load."""
    found = balanced(
        loop("first", "write_channel_intel(a, i); write_channel_intel(b, i);"),
        loop("middle", "write_channel_intel(c, p[read_channel_intel(a)]);"),
        loop("last", "p[i] = read_channel_intel(b) + read_channel_intel(c);"),
    )
    assert found["a"].depth == found["c"].depth == 2
    assert LATENCY < found["b"].depth < LATENCY + 40 and found["b"].storage == "block RAM"
    assert "instruction scheduling requirements" in found["b"].reason and found["b"].requested is None


def test_a_depth_that_is_asked_for_is_raised_but_never_lowered():
    found = balanced(
        loop("first", "write_channel_intel(given, i); write_channel_intel(a, p[i]);"),
        loop("last", "p[i] = read_channel_intel(given) + read_channel_intel(a);"),
    )
    assert found["given"].requested == 7 and found["given"].depth > LATENCY
    found = balanced(
        loop("first", "write_channel_intel(given, i); write_channel_intel(a, i);"),
        loop("last", "p[i] = read_channel_intel(given) + read_channel_intel(a);"),
    )
    assert found["given"].depth == 7 and not found["given"].reason


def test_slow_loops_have_fewer_iterations_on_their_way():
    short = "write_channel_intel(a, i); write_channel_intel(b, i);"
    deep = balanced(loop("first", short), PASS, loop("last", "p[i] = read_channel_intel(b) + read_channel_intel(c);"))
    slow = balanced(
        loop("first", short),
        loop("middle", "write_channel_intel(c, p[read_channel_intel(a)]);"),
        "__kernel void last(__global int *restrict p, int n) {\n#pragma ii 10\n"
        "for (int i = 0; i < n; i++) { p[i] = read_channel_intel(b) + read_channel_intel(c); } }\n",
    )
    assert deep["b"].depth < 12 and LATENCY / 10 < slow["b"].depth < LATENCY / 10 + 6


def test_a_call_made_now_and_then_does_not_hide_those_of_every_iteration():
    """A kernel that tells a result at the end of each sum is followed by its other calls; the channel of results keeps
    its depth."""
    found = balanced(
        loop("first", "write_channel_intel(a, i); write_channel_intel(b, i);"),
        loop(
            "middle",
            "int x = p[read_channel_intel(a)]; write_channel_intel(c, x); if (i % 16 == 15) write_channel_intel(d, x);",
        ),
        loop("last", "p[i] = read_channel_intel(b) + read_channel_intel(c);"),
        loop("results", "p[i] = read_channel_intel(d);"),
    )
    assert LATENCY < found["b"].depth < LATENCY + 40
    assert found["a"].depth == found["c"].depth == found["d"].depth == 2


def test_calls_of_a_loop_are_followed_when_the_loop_around_it_has_calls_too():
    """As above, with the result of a sum told behind its loop."""
    inner = "for (int k = 0; k < 16; k++)"
    found = balanced(
        loop("first", f"{inner} {{ write_channel_intel(a, i); write_channel_intel(b, i); }}"),
        loop(
            "middle",
            f"int x = 0; {inner} {{ x += p[read_channel_intel(a)]; write_channel_intel(c, x); }} "
            "write_channel_intel(d, x);",
        ),
        loop("last", f"int x = 0; {inner} x += read_channel_intel(b) + read_channel_intel(c); p[i] = x;"),
        loop("results", "p[i] = read_channel_intel(d);"),
    )
    assert LATENCY < found["b"].depth < LATENCY + 40
    assert found["a"].depth == found["c"].depth == found["d"].depth == 2


@pytest.mark.parametrize(
    "kernels",
    [
        # sources of their own: nobody has to wait for the later one
        (
            loop("first", "write_channel_intel(a, i);"),
            loop("second", "write_channel_intel(b, p[i]);"),
            loop("last", "p[i] = read_channel_intel(a) + read_channel_intel(b);"),
        ),
        # a circle: more depth would not be filled
        (
            loop("first", "write_channel_intel(a, i); p[i] = read_channel_intel(b);"),
            loop("second", "write_channel_intel(b, read_channel_intel(a) / 3);"),
        ),
        # not in every iteration
        (
            loop("first", "if (p[i]) write_channel_intel(a, i); write_channel_intel(b, p[i] / 3);"),
            loop("last", "int x = read_channel_intel(b); if (x) p[i] = read_channel_intel(a);"),
        ),
    ],
)
def test_nothing_is_known_or_wanted(kernels):
    assert {c.depth for c in balanced(*kernels).values()} == {2}
