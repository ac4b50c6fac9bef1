"""Kernels on channels as one marked graph: the search for its slowest cycle, and estimates beside measured cycles."""

import math
import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from hls.analysis.channels.endpoints import Endpoint
from hls.model.estimate import NotModelled
from hls.model.network import Edge, Member, estimate_network, estimate_together, finish_times, maximum_cycle_ratio
from hls.target.board import load_board
from tests.model.launched import Given, Program
from tests.repetitions import sampled

KERNELS = """
channel int a __attribute__((depth(64))), b __attribute__((depth(64))), c __attribute__((depth(64)));
channel int there, back;
channel float raw, mean;
__kernel void fetch(__global const int *restrict d, int n, int k)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            write_channel_intel(a, d[i * n + k]);
            write_channel_intel(b, d[k * n + j]);
            write_channel_intel(c, d[i * n + j]);
        }
}
__kernel void relax(__global int *restrict d, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int via = read_channel_intel(a) + read_channel_intel(b);
            int old = read_channel_intel(c);
            if (via < old) d[i * n + j] = via;
        }
}
__kernel void asks(__global int *restrict out, int n)
{
    int x = 1;
    for (int i = 0; i < n; i++) { write_channel_intel(there, x); x = read_channel_intel(back); }
    out[0] = x;
}
__kernel void numbers(int n) { for (int i = 0; i < n; i++) write_channel_intel(raw, (float)i); }
__kernel void smooth(int n)
{
    float window[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        #pragma unroll
        for (int k = 7; k > 0; k--) window[k] = window[k - 1];
        window[0] = read_channel_intel(raw);
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 8; k++) sum += window[k];
        write_channel_intel(mean, sum);
    }
}
__kernel void last(__global float *restrict out, int n) { for (int i = 0; i < n; i++) out[0] = read_channel_intel(mean); }
channel int sums, totals;
__kernel void count(int n) { for (int i = 0; i <= n; i++) write_channel_intel(sums, i < n ? i : -1); }
__kernel void add(__global int *restrict out)
{
    int s = 0;
    for (int v = read_channel_intel(sums); v >= 0; v = read_channel_intel(sums)) {
        s = s * 3 + v;
        write_channel_intel(totals, s);
    }
    write_channel_intel(totals, -7);
}
__kernel void until(__global int *restrict out)
{
    int s = 0, v;
    do { v = read_channel_intel(totals); s ^= v; } while (v != -7);
    out[0] = s;
}
channel int left __attribute__((depth(64))), right __attribute__((depth(64)));
__kernel void even(int n) { for (int i = 0; i <= n; i++) write_channel_intel(left, 2 * i); }
__kernel void odd(int n) { for (int i = 0; i <= n; i++) write_channel_intel(right, 2 * i + 1); }
__kernel void merge(__global int *restrict out, int n)
{
    int x = read_channel_intel(left), y = read_channel_intel(right);
    for (int i = 0; i < 2 * n; i++)
        if (x <= y) { out[i] = x; x = read_channel_intel(left); }
        else { out[i] = y; y = read_channel_intel(right); }
}
__kernel void answers(int n) { for (int i = 0; i < n; i++) write_channel_intel(back, read_channel_intel(there) * 5); }
"""
#: cycles of both kernels together on de5net, measured in RTL, by the side of the matrix
MEASURED = {64: 4314, 256: 65849}


@pytest.fixture(scope="module")
def program():
    return Program(KERNELS)


def members(program: Program, *launches: Given) -> list[Member]:
    workloads = program.workloads(*launches)
    return [Member(program.kernels[one.kernel], workloads[one.kernel]) for one in launches]


def relaxation(program: Program, n: int) -> list[Member]:
    d = np.random.default_rng(1).integers(1, 1000, (n, n)).astype(np.int32)
    return members(program, Given("fetch", {"d": d}, {"n": n, "k": 3}), Given("relax", {"d": d}, {"n": n}))


def conversation(program: Program, n: int) -> list[Member]:
    return members(program, Given("asks", {"out": np.zeros(1, np.int32)}, {"n": n}), Given("answers", {}, {"n": n}))


@pytest.mark.parametrize("n", MEASURED)
def test_measured(program, n):
    found = estimate_network(relaxation(program, n), program.channels, program.board)
    assert max(one.cycles.likely for one in found) == pytest.approx(MEASURED[n], rel=0.01)


def test_a_recurrence_through_another_kernel(program):
    """Each value waits for the answer to the one before: both calls, the other kernel's, and two channels. 9 cycles in
    a replay."""
    one, two = (
        estimate_network(conversation(program, n), program.channels, program.board)[0].cycles.likely
        for n in (1000, 2000)
    )
    assert (two - one) / 1000 == pytest.approx(9, abs=0.1)


def test_loops_that_end_with_a_value_that_they_read(program):
    """Whether a loop goes on is known when the call is answered, and where it also writes, when that call is. 3 cycles
    an iteration in a replay."""
    out, cycles = np.zeros(1, np.int32), []
    for n in (1000, 2000):
        given = members(program, Given("count", {}, {"n": n}), Given("add", {"out": out}), Given("until", {"out": out}))
        cycles.append(estimate_network(given, program.channels, program.board)[2].cycles.likely)
    assert (cycles[1] - cycles[0]) / 1000 == pytest.approx(3, abs=0.02)


def test_calls_under_conditions_that_a_recurrence_waits_for(program):
    """A merge of two lists takes 3 cycles a value in a replay."""
    cycles = []
    for n in (500, 1000):
        out = np.zeros(2 * n, np.int32)
        given = members(
            program, *(Given(one, {}, {"n": n}) for one in ("even", "odd")), Given("merge", {"out": out}, {"n": n})
        )
        cycles.append(estimate_network(given, program.channels, program.board)[2].cycles.likely)
    assert (cycles[1] - cycles[0]) / 1000 == pytest.approx(3, abs=0.02)


def test_tokens_in_a_long_level_between_two_calls(program):
    """A sum in strict order takes some 60 cycles between the calls of a token: as many tokens are inside the level."""
    cycles = []
    for n in (1000, 2000):
        given = members(
            program,
            Given("numbers", {}, {"n": n}),
            Given("smooth", {}, {"n": n}),
            Given("last", {"out": np.zeros(1, np.float32)}, {"n": n}),
        )
        cycles.append(estimate_network(given, program.channels, program.board)[1].cycles.likely)
    assert (cycles[1] - cycles[0]) / 1000 == pytest.approx(1, abs=0.01)


def test_a_shallow_channel_limits_what_is_ahead(program):
    """The values of three channels meet at one token, whose calls are made in two levels: fewer values fit. On a board
    whose memory answers at once, as else the wait of the first word is longer."""
    given, board = relaxation(program, 64), load_board("ecp5_onchip")
    whole = [replace(one, depth=0) for one in program.channels]
    shallow, deep = (estimate_network(given, some, board)[0].cycles.likely for some in (whole, program.channels))
    assert shallow > deep


def test_end_without_a_launch(program):
    with pytest.raises(NotModelled, match="to kernel relax, of which no launch is given"):
        estimate_together(relaxation(program, 8)[:1], program.channels, program.board)


def test_launches_by_their_turn(program):
    small, large = relaxation(program, 8), relaxation(program, 64)
    found = estimate_together([small[0], large[0], small[1], large[1]], program.channels, program.board)
    alone = estimate_network(small, program.channels, program.board)
    assert [found[0].cycles, found[2].cycles] == [one.cycles for one in alone]
    assert found[1].cycles.likely > 10 * found[0].cycles.likely


def node(number: int):
    return "kernel", Endpoint("c", number, True)


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_ratio_is_that_of_the_slowest_of_all_cycles(seed):
    rng = random.Random(seed)
    pairs = [(a, b) for a in range(6) for b in range(6) if rng.random() < 0.4]
    edges = [Edge(node(a), node(b), rng.randint(0, 30), rng.choice((0.0, 0.25, 1.0)) + (b <= a)) for a, b in pairs]
    by_pair = {(edge.source, edge.target): edge for edge in edges}
    ratios = []
    for cycle in nx.simple_cycles(nx.DiGraph(list(by_pair))):
        steps = [by_pair[pair] for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        ratios.append(sum(one.latency for one in steps) / sum(one.ahead for one in steps))
    ratio, critical = maximum_cycle_ratio(edges)
    assert ratio == pytest.approx(max(ratios, default=0.0), abs=1e-4)
    assert bool(critical) == (ratio > 0)


def test_a_cycle_without_room_never_goes_on():
    with pytest.raises(NotModelled, match="wait for each other"):
        maximum_cycle_ratio([Edge(node(0), node(1), 3.0, 0.0), Edge(node(1), node(0), 1.0, 0.0)])


def test_ends_of_a_fast_writer_and_a_slow_reader():
    """The writer ends before the reader by what the channel holds: an eighth of the values."""
    edges = [Edge(node(0), node(1), 1.0, 0.0), Edge(node(1), node(0), 0.0, 0.125)]
    found = finish_times({node(0): 10.0, node(1): 0.0}, {node(0): 100.0, node(1): 800.0}, edges)
    assert math.isclose(found[node(1)], 811, abs_tol=1e-3) and math.isclose(found[node(0)], 711, abs_tol=1e-3)
