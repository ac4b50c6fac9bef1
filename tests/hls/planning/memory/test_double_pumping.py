"""Memories at twice the clock: copies, blocks, write ports, and which accesses take turns."""

from dataclasses import replace

import pytest
from banked import plan

from hls import CompileError, load_board
from hls.report.memory_text import memory_lines
from hls.target.board import Rams

READS = "int v = a[i]; out[i] = " + " ^ ".join(f"t[(v >> {k}) & 1023]" for k in range(8)) + ";"
ANYWHERE = "int v = a[i]; t[v & 511] = i; t[(v >> 9) & 511] = ~i;"
#: of two loops at once
LOADS_AT_ONCE = (
    "int s = 0; for (int j = 0; j < n; j++) s += t[(j + i) & 511] + t[(j * i) & 511] + t[(j * 7) & 511] "
    "+ t[(j * 9) & 511];"
)
LOADS_AT_ONCE = (
    "".join(LOADS_AT_ONCE.replace("int s", f"int s{k}").replace("s +=", f"s{k} +=") for k in range(2))
    + " out[i] = s0 + s1;"
)


@pytest.mark.parametrize(
    "attributes, copies, blocks, pumping",
    [
        ("", 8, 16, "single-pumped"),
        ("singlepump", 8, 16, "single-pumped"),
        ("doublepump", 3, 6, "double-pumped"),
        ("doublepump, max_replicates(2)", 2, 4, "double-pumped"),
    ],
)
def test_pumping(attributes, copies, blocks, pumping):
    """Eight reads and a write of 4 KiB: three blocks do for them at twice the clock, where otherwise eight are needed.
    With two blocks there is time for six reads: the others take turns."""
    kernel, told, report = plan(attributes, 1024, "t[i & 1023] = a[i];", READS)
    (memory,) = report.memories
    assert (memory.copies, memory.blocks, memory.pumping) == (copies, blocks, pumping) and not told
    assert max(loop.ii for loop in kernel.plan.loops.values()) == (2 if "max" in attributes else 1)
    assert kernel.memory.onchip["t"].pumped is (pumping == "double-pumped")
    text = " ".join(" ".join(memory_lines(report.memories, lambda text, margin: [margin + text])).split())
    assert f"{blocks} block RAMs, {pumping}" in text and ("port sync2x_clk" in text) is (pumping == "double-pumped")


def test_tables_are_pumped_too():
    """Nothing is written: a block has time for four reads."""
    values = ", ".join(str(k * k) for k in range(64))
    store = (
        "const int s[64] __attribute__((doublepump)) = {"
        + values
        + "}; t[i & 511] = s[a[i] & 63] + s[a[i] >> 6 & 63] + s[a[i] >> 12 & 63] + s[i & 63];"
    )
    kernel, told, _ = plan(store=store)
    assert kernel.memory.onchip["s"].bank_ports == (4,) and kernel.memory.onchip["s"].bank_copies == (1,) and not told


def test_as_few_blocks_as_can_be():
    """512 words of 32 bits fit one block read through one port, and take two that are read through both; of 2,048 it is
    four of either."""
    _, _, report = plan("doublepump", 512, "t[i & 511] = a[i];", READS.replace("1023", "511"))
    assert (report.memories[0].copies, report.memories[0].blocks) == (4, 4)
    _, _, report = plan("doublepump", 2048, "t[i & 2047] = a[i];", READS.replace("1023", "2047"))
    assert (report.memories[0].copies, report.memories[0].blocks) == (3, 12)


@pytest.mark.parametrize(
    "rams, pumped, copies",
    [
        (Rams(2560, 20480, 300.0), False, 8),  # there is room
        (Rams(12, 20480, 300.0), True, 3),
        (Rams(12, 20480, 200.0), False, 8),  # too slow
        (Rams(12, 20480), False, 8),  # nobody knows how fast
    ],
)
def test_chosen_where_there_is_no_room_otherwise(rams, pumped, copies):
    board = load_board("de5net")
    board = replace(board, device=replace(board.device, rams=rams))
    kernel, _, report = plan("", 1024, "t[i & 1023] = a[i];", READS, board)
    assert kernel.memory.onchip["t"].pumped is pumped
    assert report.memories[0].copies == copies
    kernel, _, _ = plan("singlepump", 1024, "t[i & 1023] = a[i];", READS, board)
    assert not kernel.memory.onchip["t"].pumped
    kernel, _, _ = plan("", 1024, "t[i & 1023] += a[i];", READS, board)  # a recurrence goes through it
    assert not kernel.memory.onchip["t"].pumped


@pytest.mark.parametrize(
    "attributes, message, hint",
    [("doublepump, numwriteports(3)", "numwriteports(3) cannot be had", "numwriteports(2)")],
)
def test_more_ports_than_double_pumped_blocks_have(attributes, message, hint):
    with pytest.raises(CompileError) as caught:
        plan(attributes, load=LOADS_AT_ONCE)
    (error,) = caught.value.diagnostics
    assert error.message.startswith(message) and hint in error.hint and error.span.line == 2


@pytest.mark.parametrize(
    "attributes, message",
    [
        ("doublepump, numreadports(3)", "numreadports(3) cannot be met: the loads of t in line 4 need 6 ports"),
        ("doublepump, max_replicates(2)", "max_replicates(2) cannot be met: the loads of t in line 4 need 3 copies"),
        (
            "doublepump, numwriteports(2), max_replicates(3)",
            "max_replicates(3) cannot be met: the loads of t in line 4 need 4 copies",
        ),
    ],
)
def test_limits_that_cannot_be_kept_cost_no_turns(attributes, message):
    """Loads of loops that run at once cannot take turns; those of one loop need not, then."""
    kernel, (told,), _ = plan(attributes, load=LOADS_AT_ONCE)
    assert told.startswith(message)
    assert all(loop.ii == 1 for loop in kernel.plan.loops.values())


@pytest.mark.parametrize(
    "attributes, ports, ii",
    [
        ("", 1, 2),
        ("doublepump", 2, 1),
        ("doublepump, numwriteports(2)", 2, 1),
        ("doublepump, numwriteports(1)", 1, 2),
        ("singlepump", 1, 2),
    ],
)
def test_two_stores_anywhere(attributes, ports, ii):
    kernel, told, report = plan(attributes, store=ANYWHERE)
    memory, figures = kernel.memory.onchip["t"], report.memories[0]
    assert (memory.write_ports, figures.write_ports, max(loop.ii for loop in kernel.plan.loops.values())) == (
        ports,
        ports,
        ii,
    )
    assert [memory.turn(op) for op in memory.stores] == list(range(2))[:ports] * (2 // ports) and not told
    assert [turns.cycles for turns in figures.turns] == ([2] if ports == 1 else []) and figures.stall_free is (
        ports == 2
    )
    text = " ".join(memory_lines([figures], lambda text, indent: [text]))
    assert ("written twice, by one port before the other" in text) is (ports == 2)


def test_four_stores_take_turns_at_two_ports():
    """Each waits for the one before that has its port, and for no other."""
    more = "t[(v >> 5) & 511] = i * 3; t[(v >> 11) & 511] = i * 5;"
    kernel, _, report = plan("doublepump", store=ANYWHERE + more)
    assert max(loop.ii for loop in kernel.plan.loops.values()) == 2 and [
        turns.cycles for turns in report.memories[0].turns
    ] == [2]
    assert "share one of the 2 write ports of a bank: 2 cycles" in " ".join(
        memory_lines(report.memories, lambda text, indent: [text])
    )


def test_a_load_between_two_stores_keeps_its_place():
    """It is to see the first and not the second, while it is under way: no turn puts both stores into one cycle."""
    kernel, _, _ = plan(
        "doublepump, numwriteports(2)",
        store="int v = a[i]; t[v & 511] = i; int s = t[(v >> 5) & 511]; t[(v >> 9) & 511] = i; out[i] = s;",
    )
    memory = kernel.memory.onchip["t"]
    (loop,) = (loop for loop in kernel.plan.loops.values() if all(op in loop.place for op in memory.stores))
    first, second, load = (loop.place[op] for op in (*memory.stores, memory.loads[0]))
    seen = load.stage + kernel.memory.fixed_latency(memory.loads[0])  # from where on it sees no more
    assert first.level == second.level == load.level and first.stage < seen <= second.stage
