"""Attributes of memories from the source to the plan: what is refused, with its line, and what is built."""

import pytest
from banked import plan

from hls import CompileError, Options, load_board
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.model.area import estimate
from hls.passes.run_stages import link_program
from hls.report.collect import collect_kernel
from hls.report.memory_text import memory_lines
from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.ram import Ram


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
    text = " ".join(" ".join(memory_lines(report.memories, lambda text, margin: [margin + text])).split())
    for part in (
        "Private memory t (line 2): possibly inefficient.",
        "Requested 2,048 bytes, implemented 4,096 bytes in 2 block RAMs, single-pumped",
        "2 reads and 2 writes",
        "Replicated 2 times",
        "Conflict: stores at line 3 share the write port",
        "Index a dimension of t",
    ):
        assert part in text


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
    text = " ".join(" ".join(memory_lines(report.memories, lambda text, margin: [margin + text])).split())
    assert [part for part in parts if part not in text] == [], text


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


def test_trailing_zeros_bound_the_banks():
    """What counts in steps of four begins at a multiple of four: each store has a bank of its own."""
    store = "\n#pragma unroll\n for (int k = 0; k < 4; k++) t[((i << 2) & 508) + k] = a[i] + k;"
    kernel, _, _ = plan(store=store)
    memory = kernel.memory.onchip["t"]
    assert memory.map.banks == 4 and [memory.mask(op) for op in memory.stores] == [1, 2, 4, 8]
