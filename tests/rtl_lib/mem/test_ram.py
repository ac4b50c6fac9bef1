"""The memory with generated Verilog: proved equivalent to Amaranth's output for the same memory."""

import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from amaranth import Module
from amaranth.back import verilog
from amaranth.hdl._ir import PortDirection

from rtl_lib.library import convert
from rtl_lib.mem.ram import Ram
from tests.rtl_lib.bench import simulate
from tests.yosys import run_yosys

#: enough to write a word, to write another, and to read each
CYCLES = 7
PROOF = (
    "read_verilog own.v made.v; delete made/rst; proc; memory; opt_clean; miter -equiv -flatten own made both; "
    f"sat -verify -set-init-zero -seq {CYCLES} -prove trigger 0 both"
)


def differ(own: str, ram: Ram, folder: Path) -> bool:
    """Whether a text (of a module ``own``) can be told from Amaranth's of the same memory, within some cycles from the
    start."""
    (folder / "own.v").write_text(own)
    (folder / "made.v").write_text(verilog.convert(ram, name="made", emit_src=False))
    # Amaranth keeps ports without a bit
    proof = PROOF if ram.address_bits else PROOF.replace("made/rst", "made/rst made/*__addr*")
    code, out, errors = run_yosys(proof, folder)
    assert not code or "proof did fail" in out + errors, out + errors
    return code != 0


MEMORIES = {
    "words": {"width": 4, "depth": 4, "init": (3, 9)},
    "a word": {"width": 3, "depth": 1},
    "pieces": {"width": 6, "depth": 2, "granularity": 2, "init": (0b110110,)},
    "bit": {"width": 1, "depth": 4},
    "table": {"width": 5, "depth": 4, "init": (1, 17, 30, 4), "writable": False},
}


@pytest.mark.parametrize("name", MEMORIES)
def test_its_text_is_what_amaranth_would_write(name, tmp_path):
    ram = Ram(**MEMORIES[name])
    assert not differ(ram.own_verilog("own"), ram, tmp_path)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("words[0] = 4'h3", "words[0] = 4'h1"),
        ("words[1] = 4'h9", "words[2] = 4'h9"),
        ("if (read__en)", "if (1)"),
        ("if (write__en)", "if (read__en)"),
        (
            "read <= words[read__addr]",
            "read <= write__en && read__addr == write__addr ? write__data : words[read__addr]",
        ),
    ],
)
def test_a_wrong_text_is_noticed(text, instead, tmp_path):
    ram = Ram(width=4, depth=4, init=(3, 9))
    own = ram.own_verilog("own")
    assert text in own
    assert differ(own.replace(text, instead, 1), ram, tmp_path)


def test_a_large_memory_is_a_short_text_of_its_own(tmp_path):
    """Its size costs nothing, and no loop has more turns than synthesis tools take."""
    ram = Ram(width=512, depth=100_000)
    ports = {"data": (ram.read.data, PortDirection.Output), "place": (ram.write.addr, PortDirection.Input)}
    m = Module()
    m.submodules.ram = ram
    files = convert(m, "top", ports, tmp_path)
    (name,) = (name for name in files if name.startswith("ram_"))
    assert len(files[name]) < 5_000
    turns = [(int(a), int(b)) for a, b in re.findall(r"place = (\d+); place < (\d+)", files[name])]
    assert all(b - a < 5_000 for a, b in turns) and [k for a, b in turns for k in range(a, b)] == list(range(100_000))
    assert files == convert(m, "top", ports, tmp_path), "from the cache"


@pytest.mark.parametrize(
    ("kind", "collides", "line"),
    [
        (None, True, ""),
        ("block", True, '(* ram_style = "block", ramstyle = "M20K" *)'),
        (None, False, '(* no_rw_check, ramstyle = "no_rw_check" *)'),
        ("block", False, '(* no_rw_check, ram_style = "block", ramstyle = "M20K, no_rw_check" *)'),
    ],
)
def test_its_attributes(kind, collides, line):
    text = Ram(width=4, depth=4, kind=kind, collides=collides).own_verilog("own")
    assert [found.strip() for found in text.splitlines() if "(*" in found] == [line] * bool(line)


@pytest.mark.parametrize("place", [1, 2])
def test_a_word_that_must_not_be_read_as_it_is_written(place):
    """An assertion stops the simulation where the word is the same one, and only there."""
    ram = Ram(width=4, depth=4, collides=False)

    async def bench(ctx):
        ctx.set(ram.write.en, 1)
        ctx.set(ram.write.addr, place)
        ctx.set(ram.read.en, 1)
        ctx.set(ram.read.addr, 2)
        await ctx.tick()

    with pytest.raises(AssertionError, match="read in the cycle") if place == 2 else nullcontext():
        simulate(ram, bench)
