"""Attributes of memories from the source to the plan: what is refused, with its line, and what is built."""

from dataclasses import replace

import pytest

from hls import CompileError, Options, load_board
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.model.area import estimate
from hls.passes.pipeline import link_program
from hls.report.collect import collect_kernel
from hls.report.memory_text import memory_section
from hls.target.board import Rams
from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.ram import Ram

TASK = """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {{
  int t[{words}] {attributes};
  for (int i = 0; i < n; i++) {{ {store} }}
  for (int i = 0; i < n; i++) {{ {load} }}
}}
"""


def plan(attributes="", words=512, store="t[i & 511] = a[i];", load="out[i] = t[(i * 5) & 511];", board="de5net"):
    text = TASK.format(
        words=words, attributes=f"__attribute__(({attributes}))" if attributes else "", store=store, load=load
    )
    module = link_program(parse_source(text, "k.cl", {}, []).module)
    (kernel,), told = plan_module(module, load_board(board) if isinstance(board, str) else board, Options())
    return kernel, [message.message for message in told], collect_kernel(kernel, module, 100)


@pytest.mark.parametrize(
    "attributes, words, message, hint",
    [
        ("bankwidth(2)", 512, "bankwidth(2) is less than the 4 bytes of an access (memory t)", "bankwidth(4)"),
        (
            "numbanks(1024)",
            512,
            "numbanks(1024) is more than the memory's 512 words of 4 bytes (memory t)",
            "numbanks(512)",
        ),
        ("bank_bits(12)", 512, "bit 12 of bank_bits is always 0", "write 8"),
        ("bank_bits(2, 2)", 512, "bank_bits names bit 2 twice", "once"),
        ("numwriteports(2)", 512, "numwriteports(2) cannot be had", "doublepump with numwriteports(2)"),
        ("register", 2048, "'register' asks for 65,536 bits of t", "smaller"),
    ],
)
def test_refused_with_its_place(attributes, words, message, hint):
    with pytest.raises(CompileError) as caught:
        plan(attributes, words)
    (error,) = caught.value.diagnostics
    assert error.message.startswith(message) and hint in error.hint and error.span.line == 2


def test_refused_where_the_attribute_stands():
    """Declarations of memories take several lines: the place is that of the attribute that cannot be."""
    with pytest.raises(CompileError) as caught:
        plan("numbanks(2),\n bankwidth(4),\n doublepump,\n numwriteports(3)")
    (error,) = caught.value.diagnostics
    assert (error.span.line, error.span.column) == (5, 2) and error.message.startswith("numwriteports(3) cannot be had")


@pytest.mark.parametrize("attribute", ["numbanks(2)", "doublepump", "memory", "max_replicates(2)"])
def test_a_single_value_is_no_memory(attribute):
    _, (told,), _ = plan(store=f"int x __attribute__(({attribute})); x = a[i]; t[i & 511] = x;")
    assert told == f"the attribute '{attribute.partition('(')[0]}' of 'x' has no effect"


def test_larger_than_the_device():
    with pytest.raises(CompileError) as caught:
        plan("", 1 << 18, board="ecp5_onchip")
    (error,) = caught.value.diagnostics
    assert (
        error.message.startswith("t needs 512 block RAMs, but the device has 208")
        and "are the most" in error.hint
        and error.span.line == 2
    )


def test_too_few_copies_for_loads_that_may_meet():
    """Two loops that run at once (the inner ones of work under way) cannot share one copy."""
    load = (
        "int s = 0; for (int j = 0; j < n; j++) s += t[(j + i) & 511]; int u = 0; for (int j = 0; j < n; j++) u "
        "^= t[(j * i) & 511]; out[i] = s + u;"
    )
    kernel, (told,), _ = plan("max_replicates(1)", load=load)
    assert kernel.memory.onchip["t"].most_copies == 2
    assert told.startswith("max_replicates(1) cannot be met: the loads of t in line 4 need 2 copies")
    kernel, told, _ = plan("max_replicates(2)", load=load)
    assert kernel.memory.onchip["t"].most_copies == 2 and not told


@pytest.mark.parametrize(
    "attributes, words, memories",
    [("", 8, set()), ("memory", 8, {"t"}), ("numbanks(2)", 8, {"t"}), ("", 64, {"t"}), ("register", 64, set())],
)
def test_registers_or_memory(attributes, words, memories):
    mask = words - 1
    kernel, told, _ = plan(attributes, words, f"t[i & {mask}] = a[i];", f"out[i] = t[(i * 5) & {mask}];")
    assert set(kernel.memory.onchip) == memories and not told


@pytest.mark.parametrize(
    "attributes, warned",
    [
        ("doublepump", False),
        ("singlepump", False),
        ("simple_dual_port", False),
        ("private_copies(1)", False),
        ("private_copies(2)", True),
        ("max_private_copies(4)", False),
        ('merge("m", "depth")', True),
    ],
)
def test_what_is_not_followed_is_said(attributes, warned):
    _, told, _ = plan(attributes)
    assert [attributes.partition("(")[0] in message for message in told] == [True] * warned


def test_a_middle_dimension_is_banked():
    """Rows of 60 words: what wraps in the address is written as a sum for the low bits that choose a bank, and nothing
    else of it is lost."""
    text = """__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void k(__global const int *restrict a, __global int *restrict out) {
      __local int t[8][5][12];
      int l = get_local_id(0), g = get_global_id(0), v = a[g], s = 0;
      #pragma unroll
      for (int m = 0; m < 5; m++) t[l & 7][m][l >> 3] = v + m;
      barrier(CLK_LOCAL_MEM_FENCE);
      #pragma unroll
      for (int m = 0; m < 5; m++) s = s * 3 + t[(l + 1) & 7][m][l >> 3];
      out[g] = s;
    }
    """
    module = link_program(parse_source(text, "k.cl", {}, []).module)
    (kernel,), _ = plan_module(module, load_board("de5net"), Options())
    memory = kernel.memory.onchip["t"]
    assert (
        memory.banking.map == BankMap((4, 3, 2)) and memory.bank_copies == (1,) * 8 and memory.banking.stores.most == 1
    )


def test_what_the_compiler_decides_is_no_wish_of_the_source():
    _, _, report = plan(words=7, store="int k = (a[i] & 1023) % 7; t[k] += i; out[i] = t[(k + 3) % 7];")
    (memory,) = report.memories
    assert memory.attributes == () and "LUT RAM" in next(one.place for one in report.privates if one.name == "t")


def test_fewer_write_ports_are_advised_where_they_save_blocks():
    read, write = (
        "t[v & 511] + t[v >> 4 & 511] + t[v >> 8 & 511] + t[v >> 12 & 511]",
        "t[a[i] & 511] = i; t[a[i] >> 9 & 511] = ~i;",
    )
    _, _, report = plan("doublepump", store=write, load=f"int v = a[i]; out[i] = {read} + t[i & 511];")
    assert "numwriteports" not in report.memories[0].advice  # three blocks with one port, too
    _, _, report = plan(
        "doublepump",
        1024,
        write.replace("511", "1023"),
        f"int v = a[i]; out[i] = {read} + t[i & 511] + t[v >> 16 & 511];".replace("511", "1023"),
    )
    assert report.memories[0].advice.startswith("numwriteports(1) needs 4 block RAMs for t instead of 6")


def test_report():
    store = "t[i & 511] = a[i]; t[(a[i] >> 3) & 511] = 7;"
    _, _, report = plan(store=store, load="out[i] = t[(i * 5) & 511] + t[(i * 3) & 511];")
    (memory,) = report.memories
    assert (memory.requested, memory.implemented, memory.banks, memory.copies) == (2048, 4096, 1, 2)
    assert (memory.reads, memory.writes, memory.rating, memory.stall_free) == (2, 2, "possibly inefficient", False)
    assert [(one.kind, one.cycles, one.lines) for one in memory.turns] == [("store", 2, (3,))]
    text = " ".join(" ".join(memory_section(report.memories, lambda text, margin: [margin + text])).split())
    for part in (
        "Private memory t (line 2): possibly inefficient.",
        "Requested 2,048 bytes, implemented 4,096 bytes in 2 block RAMs, single-pumped",
        "2 reads and 2 writes",
        "Replicated 2 times",
        "Conflict: stores at line 3 share the write port",
        "Index a dimension of t",
    ):
        assert part in text


READS = "int v = a[i]; out[i] = " + " ^ ".join(f"t[(v >> {k}) & 1023]" for k in range(8)) + ";"


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
    text = " ".join(" ".join(memory_section(report.memories, lambda text, margin: [margin + text])).split())
    assert f"{blocks} block RAMs, {pumping}" in text and ("port sync2x_clk" in text) is (pumping == "double-pumped")


FOUR = "\n#pragma unroll\n for (int k = 0; k < 4; k++) t[((i << 2) & 508) + k] = a[i] + k;"
EITHER = "int v = a[i];\n if (v & 1) out[i] = t[v & 511];\n else out[i] = t[(v >> 3) & 511];"


@pytest.mark.parametrize(
    "store, load, parts",
    [
        (
            "t[i & 511] = a[i];",
            "out[i] = t[i & 511];",
            ["t (line 2): optimal.", "in 1 block RAM, single-pumped, stall-free, 1 read and 1 write"],
        ),
        (
            "t[i & 511] = a[i];",
            "out[i] = t[a[i] & 511] + t[(a[i] >> 9) & 511];",
            [
                "t (line 2): good but replicated.",
                "in 2 block RAMs, single-pumped, stall-free, 2 reads and 1 write",
                "Replicated 2 times: 2 loads can read at once.",
                "Fewer read sites of t need fewer copies.",
            ],
        ),
        (
            FOUR,
            "out[i] = t[i & 511];",
            [
                "4 banks: interleaved by words of 4 bytes.",
                "stall-free",
                "one read and one write in the whole kernel would need no multiplexers and may raise fmax",
            ],
        ),
        ("t[i & 511] = a[i];", EITHER, ["Accesses at lines 5, 6 share a port: their conditions exclude each other."]),
    ],
    ids=["optimal", "replicated", "banked", "shared"],
)
def test_what_is_said(store, load, parts):
    _, _, report = plan(store=store, load=load)
    text = " ".join(" ".join(memory_section(report.memories, lambda text, margin: [margin + text])).split())
    assert [part for part in parts if part not in text] == [], text


GROUPS = """__attribute__((reqd_work_group_size({size}, 1, 1))) __kernel void k(__global const int *restrict a, __global int *restrict out) {{
  __local int t[{size}];
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = t[{size} - 1 - l];
}}
"""


@pytest.mark.parametrize(
    "size, cost",
    [(64, "one copy would need as many block RAMs."), (1024, "3.5 times the block RAMs of one copy. Fewer barriers")],
)
def test_what_parts_for_groups_cost(size, cost):
    module = link_program(parse_source(GROUPS.format(size=size), "k.cl", {}, []).module)
    (kernel,), _ = plan_module(module, load_board("de5net"), Options())
    report = collect_kernel(kernel, module, 100)
    text = " ".join(" ".join(memory_section(report.memories, lambda text, margin: [margin + text])).split())
    assert f"{report.memories[0].groups} private copies, one for each work-group in flight: {cost}" in text


ROWS = """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {{
  for (int r = 0; r < n; r++) {{
    int t[{words}]{attributes};
    for (int k = 0; k < 64; k++) t[k] = a[64 * r + k];{more}
    for (int k = 0; k < 64; k++) out[64 * r + k] = t[63 - k];
  }}
}}
"""


@pytest.mark.parametrize(
    "attributes, words, more, copies, banks",
    [
        ("", 64, "", 8, 1),
        ("private_copies(2)", 64, "", 2, 1),
        ("private_copies(3)", 64, "", 4, 1),
        ("private_copies(1)", 64, "", 1, 1),
        ("max_private_copies(5)", 64, "", 4, 1),
        ("max_concurrency(2)", 64, "", 2, 1),
        ("", 1024, "", 4, 1),
        ("", 4096, "", 2, 1),
        ("", 16384, "", 1, 1),
        ("", 64, "for (int k = 0; k < 64; k++) t[a[k] & 63] = r;", 4, 4),
    ],
)
def test_copies_for_iterations(attributes, words, more, copies, banks):
    """As many as are of use and have room, a power of two; memories of their own where several loops store."""
    text = ROWS.format(words=words, attributes=f" __attribute__(({attributes}))" if attributes else "", more=more)
    module = link_program(parse_source(text, "k.cl", {}, []).module)
    (kernel,), told = plan_module(module, load_board("de5net"), Options())
    (memory,) = kernel.memory.onchip.values()
    assert (memory.copies, memory.map.banks) == (copies, banks) and not told
    (report,) = collect_kernel(kernel, module, 100).memories
    text = " ".join(" ".join(memory_section([report], lambda text, margin: [margin + text])).split())
    assert (f"{copies} private copies, one for each iteration of the loop that declares it" in text) is (copies > 1)
    # iterations that overlap: the loop's interval is less than its body's way
    (outer,) = (
        plan for loop, plan in kernel.plan.loops.items() if any(op.opcode == "loop" for op in loop.regions[0].ops)
    )
    assert (outer.ii < 64) is (copies > 1)


@pytest.mark.parametrize(
    "text, reason",
    [
        (
            TASK.format(
                words=512,
                attributes="__attribute__((private_copies(2)))",
                store="t[i & 511] = a[i];",
                load="out[i] = t[(i * 5) & 511];",
            ),
            "in the body of a loop",
        ),
        (
            """__kernel void k(__global const int *restrict a, __global int *restrict out, int n) {
      for (int r = 0; r < n; r++) { int t[512] __attribute__((private_copies(4))); t[a[r] & 511] = r; out[r] = t[a[r + 1] & 511]; } }""",
            "no loop inside",
        ),
    ],
)
def test_no_copies(text, reason):
    module = link_program(parse_source(text, "k.cl", {}, []).module)
    (kernel,), (told,) = plan_module(module, load_board("de5net"), Options())
    assert "has no effect" in told.message and told.message.startswith("private_copies(") and reason in told.hint
    assert kernel.memory.onchip["t"].copies == 1 and told.span is not None


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


@pytest.mark.parametrize(
    "kind, words, blocks, style",
    [
        ("", 512, 1, None),
        ('"BLOCK_RAM"', 8, 1, "block"),
        ('"M20K"', 512, 1, "block"),
        ('"MLAB"', 512, 0, "distributed"),
    ],
)
def test_kind_of_ram(kind, words, blocks, style):
    """What a memory is made of: asked of synthesis in its text, and counted so in the report."""
    mask = words - 1
    kernel, told, report = plan(
        f"memory({kind})" if kind else "memory", words, f"t[i & {mask}] = a[i];", f"out[i] = t[(i * 5) & {mask}];"
    )
    assert kernel.memory.onchip["t"].kind == style and report.memories[0].blocks == blocks and not told
    text = "\n".join(Ram(width=32, depth=words, kind=style).own_verilog("ram").splitlines())
    assert (f'ram_style = "{style}"' in text) is (style is not None)
    area = estimate({"ram.v": text}, "ram", load_board("de5net").device).total
    assert area.rams == blocks and (area.logic > 0) is (blocks == 0)


@pytest.mark.parametrize(
    "attributes, message",
    [
        ('memory("SRAM")', 'memory("SRAM") names no kind of RAM'),
        ('memory("MLAB"), doublepump', 'the tables of memory("MLAB") cannot be double-pumped'),
    ],
)
def test_no_kind_of_ram(attributes, message):
    with pytest.raises(CompileError) as caught:
        plan(attributes)
    (error,) = caught.value.diagnostics
    assert error.message.startswith(message) and error.span.line == 2 and "BLOCK_RAM" in error.hint


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


@pytest.mark.parametrize("attribute, copies, ii", [("max_replicates(1)", 1, 2), ("numbanks(1)", 2, 1)])
def test_loads_behind_a_barrier_share_copies_with_those_before(attribute, copies, ii):
    """Who is behind the barrier is of another group than who is before it, and each group has a bank."""
    text = """__attribute__((reqd_work_group_size(16, 1, 1)))
    __kernel void k(__global int *restrict a, int n) {
      __local int __attribute__((ATTRIBUTE)) t[16][16];
      int x = get_local_id(0);
      t[x][0] = a[x];
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int i = 1; i < 16; i++) {
        t[x][i] = t[x][i - 1] + t[15 - x][i - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
        t[x][i] += t[i][x & (i - 1)];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      a[x] = t[x][15];
    }
    """
    module = link_program(parse_source(text.replace("ATTRIBUTE", attribute), "k.cl", {}, []).module)
    (kernel,), told = plan_module(module, load_board("de5net"), Options())
    memory = kernel.memory.onchip["t"]
    assert memory.bank_copies == (copies,) * memory.copies and not told
    assert max(loop.ii for loop in kernel.plan.loops.values()) == ii
    (figures,) = collect_kernel(kernel, module, 100).memories
    assert any("a barrier separates them" in one.reason for one in figures.sharing)


ANYWHERE = "int v = a[i]; t[v & 511] = i; t[(v >> 9) & 511] = ~i;"


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
    text = " ".join(memory_section([figures], lambda text, indent: [text]))
    assert ("written twice, by one port before the other" in text) is (ports == 2)


def test_four_stores_take_turns_at_two_ports():
    """Each waits for the one before that has its port, and for no other."""
    more = "t[(v >> 5) & 511] = i * 3; t[(v >> 11) & 511] = i * 5;"
    kernel, _, report = plan("doublepump", store=ANYWHERE + more)
    assert max(loop.ii for loop in kernel.plan.loops.values()) == 2 and [
        turns.cycles for turns in report.memories[0].turns
    ] == [2]
    assert "share one of the 2 write ports of a bank: 2 cycles" in " ".join(
        memory_section(report.memories, lambda text, indent: [text])
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


def test_trailing_zeros_bound_the_banks():
    """What counts in steps of four begins at a multiple of four: each store has a bank of its own."""
    store = "\n#pragma unroll\n for (int k = 0; k < 4; k++) t[((i << 2) & 508) + k] = a[i] + k;"
    kernel, _, _ = plan(store=store)
    memory = kernel.memory.onchip["t"]
    assert memory.map.banks == 4 and [memory.mask(op) for op in memory.stores] == [1, 2, 4, 8]


@pytest.mark.parametrize(
    "attributes, copies",
    [
        ("private_copies(32)", 16),
        ("private_copies(4), max_private_copies(3)", 2),
        ("private_copies(8), max_concurrency(1)", 1),
    ],
)
def test_fewer_copies_than_asked_for_are_told(attributes, copies):
    module = link_program(
        parse_source(
            ROWS.format(words=64, attributes=f" __attribute__(({attributes}))", more=""), "k.cl", {}, []
        ).module
    )
    (kernel,), (told,) = plan_module(module, load_board("de5net"), Options())
    assert kernel.memory.onchip["t"].copies == copies
    assert told.message.endswith(f"of 't' is treated as {copies}") and told.span.line > 0
