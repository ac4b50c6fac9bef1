"""Area by structure and by source line: exact sums, roles, counters, kernels that are equal but for their channels."""

import pytest

from hls import Options, compile, load_board
from hls.diag import Span
from hls.model.area import NOTHING, Resources, integers
from hls.report.area import Role
from hls.report.collect import collect
from hls.report.copies import ranges
from hls.report.model import Access, Kernel
from hls.report.shared_area import SharedUsers

#: two of three copies are equal but for their channels; kernel ``clk`` has the name of a signal of the system
SOURCE = """#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int way[4] __attribute__((depth(8)));
__kernel void clk(__global const int *restrict a, int n)
{
    int mark[256];
    for (int i = 0; i < n; i++) {
        mark[a[i] & 255] = i;
        write_channel_intel(way[0], mark[(a[i] >> 8) & 255] * i);
    }
}
__attribute__((max_global_work_dim(0), autorun, num_compute_units(3)))
__kernel void add(void)
{
    int id = get_compute_id(0);
    int last = id == 2 ? 7 : 0;
    while (1)
        write_channel_intel(way[id + 1], read_channel_intel(way[id]) + last);
}
__kernel void take(__global int *restrict o, int n)
{
    for (int i = 0; i < n; i++)
        o[i] = read_channel_intel(way[3]);
}"""


@pytest.fixture(scope="module")
def reports():
    return {kind: collect(compile(SOURCE, "de5net", Options(counters=kind), "k.cl"), "k.cl") for kind in ("", "all")}


def every(node):
    return [node, *(inner for child in node.children for inner in every(child))]


@pytest.mark.parametrize("counters", ["", "all"])
def test_tree_and_lines_sum_to_the_total(reports, counters):
    report = reports[counters]
    total = report.resources
    assert report.area.resources == total != NOTHING
    assert sum((line.resources for line in report.lines), NOTHING) == total
    for node in every(report.area):
        if node.children:
            assert sum((child.resources for child in node.children), NOTHING) == node.resources, node.name
    by_name = {node.name: node for node in report.area.children}
    for kernel in report.kernels:
        assert by_name[kernel.name].resources == kernel.resources


def test_what_kernels_share_belongs_to_the_lines_that_use_it(reports):
    """Two loads that one unit serves, and a store; channels where they are declared; control windows at the kernels."""
    report = reports[""]
    shared = {
        (line.role, line.span.line if line.span else None): line.resources for line in report.lines if not line.kernel
    }
    lines = {role: sorted(line for one, line in shared if one is role) for role, _ in shared}
    assert lines == {Role.CHANNELS: [2], Role.INTERCONNECT: [7, 22], Role.BOARD: [3, 7, 12, 19, 22]}
    nodes = {node.role: node.resources for node in report.area.children if node.role is not Role.KERNEL}
    for role, used in nodes.items():
        assert sum((part for (one, _), part in shared.items() if one is role), NOTHING) == used


def test_shares_are_equal_and_sum_exactly():
    board = load_board("de5net")
    kernels = tuple(
        Kernel(name, Span("k.cl", line), False, accesses=accesses)
        for name, line, accesses in (
            ("a", 1, (_access("load", 2), _access("load", 3, count=2), _access("store", 4))),
            ("b", 5, (_access("load", 3), _access("atomic", 6))),
        )
    )
    users = SharedUsers(kernels, (), board)
    assert users.of("read_interconnect") == {Span("k.cl", 2): 1, Span("k.cl", 3): 3, Span("k.cl", 6): 1}
    assert users.of("write_master1") == {Span("k.cl", 4): 1, Span("k.cl", 6): 1}
    assert users.of("control_windows") == {Span("k.cl", 1): 1, Span("k.cl", 5): 1}
    assert not users.of("constant_cache") and not users.of("read_interconnect_qdr")
    used = Resources(101, 7, 3, 1)
    parts = dict(users.split("read_interconnect", used))
    assert sum(parts.values(), NOTHING) == used and parts[Span("k.cl", 3)].logic in (60, 61)
    assert list(users.split("constant_cache", used)) == [(None, used)]


def _access(kind: str, line: int, count: int = 1) -> Access:
    return Access(kind, "m", Span("k.cl", line, 5), 4, "burst-coalesced", "", count)


def test_roles(reports):
    (kernel,) = (node for node in reports[""].area.children if node.name == "clk")
    roles = {node.role: node.resources for node in kernel.children}
    assert roles[Role.LOCAL_MEMORY].rams == 1 and roles[Role.ACCESS].logic and roles[Role.DISPATCH].logic
    (loop,) = (node for node in kernel.children if node.role is Role.LOOP)
    assert (loop.id, loop.span.line) == ("clk/i", 6)
    (product,) = (
        line
        for line in reports[""].lines
        if line.kernel == "clk" and line.role is Role.ARITHMETIC and line.resources.dsps
    )
    assert product.span.line == 8


def test_the_counters_are_what_the_design_grows_by(reports):
    without, counted = reports[""], reports["all"]
    assert without.counters == NOTHING and without.info.counters == "off"
    grown = counted.resources.logic - without.resources.logic
    assert counted.counters.logic == pytest.approx(grown, rel=0.03)
    assert counted.counters.logic == sum(kernel.counters.logic for kernel in counted.kernels)
    assert counted.counters.rams == 0 and counted.info.counters == "all"


def test_kernels_that_differ_in_channels_only_are_one_entry(reports):
    kernels = {kernel.name: kernel for kernel in reports[""].kernels}
    assert list(kernels) == ["clk", "add_0", "add_2", "take"]
    assert kernels["add_0"].copies.names == ("add_0", "add_1") and kernels["add_2"].copies is None
    assert kernels["add_0"].copies.differs == ("reads way[0..1]", "writes way[1..2]")
    assert {(one.writer, one.reader): one.count for one in reports[""].channels} == {
        ("clk", "add_0"): 1,
        ("add_0", "add_0"): 1,
        ("add_0", "add_2"): 1,
        ("add_2", "take"): 1,
    }


def test_ranges():
    assert ranges([3, 1, 2, 7, 9, 8, 12]) == "1..3, 7..9, 12"
    assert ranges([]) == ""


def test_integers_sum_to_the_whole():
    assert integers(4, [1.5, 0.75, 0.75, 0.5]) == [2, 1, 1, 0]
    assert integers(3, [2.0, 1.0]) == [2, 1]
    assert sum(integers(34, [1 / 3] * 100)) == 34
    assert Resources(1, 2, 3, 4) + NOTHING == Resources(1, 2, 3, 4)
