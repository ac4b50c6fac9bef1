"""The boards that ship, and how a wrong board file is refused."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from hls.target.board import BoardError, PortTiming, known_boards, load_board
from hls.target.soc import Soc

SHIPPED = Path(__file__).parents[3] / "boards"


def test_known_boards():
    assert known_boards() == (
        *("a10pac", "crosslinknx", "de10nano", "de5net", "ecp5_onchip", "ecpix5", "orangecrab", "pynqz2"),
        *("stratix10", "tangprimer20k", "u250", "ulx3s"),
    )


def test_de5net():
    board = load_board("de5net")
    assert (board.name, board.clock.kernel_mhz, board.device.family) == ("de5net", 240.0, "stratixv")
    assert (board.device.rams.count, board.device.dsps.count, board.memory.word_bytes * 8) == (2560, 256, 512)
    assert [bank.bytes for bank in board.memory.banks] == [2 << 30] * 2
    assert board.peak_bytes_per_ns == pytest.approx(25.6)
    timing = board.memory.timing
    assert (timing.tRAS + timing.tRP) * timing.tck_ns == 48.75
    assert timing.tFAW * timing.tck_ns == 40


def test_a10pac():
    board = load_board("a10pac")
    assert board.peak_bytes_per_ns == pytest.approx(34.1, abs=0.05)
    assert board.device.dsps.multipliers == 3036
    ram_bits = board.device.rams.count * board.device.rams.bits + board.device.lutram_bits
    assert ram_bits / 2**20 == pytest.approx(65.7, abs=0.05)
    # A kernel that moves 64 bytes a cycle cannot take more than one bank gives: the clock is that of the controllers.
    assert board.memory.word_bytes / board.clock.period_ns == pytest.approx(34.13 / 2, abs=0.01)


def test_ecp5_onchip():
    board = load_board("ecp5_onchip")
    assert (board.memory.kind, board.memory.timing, board.memory.read_latency) == ("onchip", None, 1)
    assert board.memory.shared_peak(10) is None and board.peak_bytes_per_ns > 0
    data_bits = board.memory.bytes * 8
    assert data_bits < board.device.rams.count * 16384, "global memory and local memories share the block RAM"
    assert board.peak_bytes_per_ns == pytest.approx(0.6)


@pytest.mark.parametrize("name", ["de5net", "a10pac", "ecp5_onchip"])
def test_every_board_has_delays_that_fit_its_clock(name):
    model = load_board(name).delay_model()
    assert model.overhead_ns + model.delay("add", 32) < model.period_ns


@pytest.mark.parametrize("name", ["de5net", "a10pac"])
def test_every_timing_value_names_its_source(name):
    """Whoever reads a figure finds where it comes from on the same line."""
    lines = (SHIPPED / f"{name}.toml").read_text().splitlines()
    values = lines[lines.index("[memory.timing]") + 1 :]
    timing = [line for line in values if line.startswith(("t", "C"))]
    assert len(timing) == 17
    for line in timing:
        same_as_short = line.split("=")[0].strip().endswith("_L") and name == "de5net"
        assert "# [" in line or same_as_short, line


def test_unknown_board_lists_the_known_ones():
    with pytest.raises(BoardError, match="did you mean de5net[?] Known are a10pac, crosslinknx") as caught:
        load_board("de5")
    assert (caught.value.file, caught.value.key) == ("de5", "")


def test_missing_file(tmp_path):
    with pytest.raises(BoardError, match="cannot be read"):
        load_board(tmp_path / "none.toml")
    with pytest.raises(BoardError, match="cannot be read"):
        load_board(tmp_path)


def test_path_as_text_and_as_path(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text((SHIPPED / "de5net.toml").read_text())
    assert load_board(str(file)) == load_board(file) == load_board("de5net")


def test_not_toml(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text("[board\n")
    with pytest.raises(BoardError, match="not valid TOML.*line 1"):
        load_board(file)


@pytest.mark.parametrize(
    "old, new, key, expected",
    [
        ('name = "de5net"', "", "board.name", "is missing; expected a string"),
        ('name = "de5net"', "name = 5", "board.name", "must be a string, not 5"),
        ('name = "de5net"', 'name = ""', "board.name", "must not be empty"),
        ("kernel_mhz = 240.0", "kernel_mhz = 0", "clock.kernel_mhz", "between 1 and 2000"),
        ("kernel_mhz = 240.0", "kernel_mhz = nan", "clock.kernel_mhz", "between 1 and 2000"),
        ("kernel_mhz = 240.0", "kernel_mhz = true", "clock.kernel_mhz", "must be a number, not True"),
        ("kernel_mhz = 240.0", "kernel_mhz = 240.0\nkernel_mhzz = 1", "clock.kernel_mhzz", "did you mean kernel_mhz"),
        ('delays = "stratixv"', 'delays = "virtex"', "device.delays", "one of arria10, cyclonev_7, ecp5,"),
        ('logic_cell = "alm"', 'logic_cell = "gate"', "device.logic_cell", "one of alm, lut4, lut6"),
        ("[device.rams]\ncount = 2560", "[device.rams]\ncount = -1", "device.rams.count", "at least 0"),
        ("[device.rams]", "[device.ram]", "device.rams", r"is missing; expected a table \[device.rams\]"),
        ('kind = "ddr"', 'kind = "hbm"', "memory.kind", "one of ddr, sdr, sram, axi, onchip"),
        ('kind = "ddr"', 'kind = "onchip"', "memory.timing", "for memory outside the chip only"),
        ("interleave_bytes = 1024", "interleave_bytes = 1000", "memory.interleave_bytes", "power of two"),
        ("interleave_bytes = 1024", "interleave_bytes = 32", "memory.interleave_bytes", "at least word_bytes"),
        ("word_bytes = 64", "word_bytes = 32", "memory.word_bytes", "multiple of one burst"),
        ("word_bytes = 64", "word_bytes = 64.5", "memory.word_bytes", "must be an integer"),
        (
            "[[memory.bank]]\nbytes = 0x80000000",
            "[[memory.bank]]\nbytes = 3000",
            "memory.bank[0].bytes",
            "power of two",
        ),
        (
            "[[memory.bank]]\nbytes = 0x80000000\n\n",
            "[[memory.bank]]\nbytes = 0x40000000\n\n",
            "memory.bank[1].bytes",
            "interleaved banks are of one size",
        ),
        ("[[memory.bank]]", "[[memory.banks]]", "memory.bank", "is missing; expected an array of tables"),
        ("[memory.timing]", "[[memory.bank]]\nbytes = 0x80000000\n[memory.timing]", "memory.bank", "1, 2, 4 ... banks"),
        ("tRCD = 11", "", "memory.timing.tRCD", "is missing; expected an integer"),
        ("tRAS = 28", "tRAS = 10", "memory.timing.tRAS", "at least tRCD = 11, not 10"),
        ("tCCD_L = 4", "tCCD_L = 3", "memory.timing.tCCD_L", "at least tCCD_S = 4"),
        ("tREFI = 6240", "tREFI = 100", "memory.timing.tREFI", "at least tRFC = 208"),
        ("bus_bits = 64", "bus_bits = 72", "memory.timing.bus_bits", "power of two"),
        ("row_bytes = 8192", "row_bytes = 32", "memory.timing.row_bytes", "hold a burst"),
        ('name = "QDR"', 'name = "DDR"', "other_memory[0].name", "different for each memory, not 'DDR'"),
        ('name = "QDR"', 'name = "default"', "other_memory[0].name", "different for each memory, not 'default'"),
        ('name = "QDR"', "", "other_memory[0].name", "is missing; expected a string"),
        ('kind = "sram"', 'kind = "onchip"', "other_memory[0].kind", 'must be "ddr", "sdr", "sram" or "axi"'),
        ("word_ns = 3.636", "word_ns = 0", "other_memory[0].timing.word_ns", "between 0.1 and 10000"),
        ("word_bytes = 8", "word_bytes = 128", "other_memory[0].word_bytes", "between 4 and 64"),
        ("[clock]", "[extra]\nx = 1\n[clock]", "extra", "is not a known key"),
    ],
)
def test_wrong_files_are_refused_with_the_key(tmp_path, old, new, key, expected):
    text = "\n".join(line.split("#")[0].rstrip() for line in (SHIPPED / "de5net.toml").read_text().splitlines()) + "\n"
    assert old in text
    file = tmp_path / "mine.toml"
    file.write_text(text.replace(old, new, -1 if old == "[[memory.bank]]" else 1))  # that one is wrong in all places
    with pytest.raises(BoardError, match=expected) as caught:
        load_board(file)
    assert (caught.value.file, caught.value.key) == (str(file), key)
    assert str(caught.value).startswith(f"{file}: {key}: ")


def test_shipped_files_are_plain_toml():
    for name in known_boards():
        assert tomllib.loads((SHIPPED / f"{name}.toml").read_text())["board"]["name"] == name


SDR = """
[memory.timing]
tck_ns = 10.0
CL = 2
tRCD = 2
tRP = 2
tRAS = 5
tRRD = 2
tWR = 2
tREFI = 781
tRFC = 7
banks = 4
row_bytes = 1024
bus_bits = 16
beats = 2
queue = 8
batch = 16
row_hit_cap = 32
controller_latency_ns = 100.0
"""
AXI = "\n[memory.timing]\nlatency_ns = 200.0\nbytes_per_ns = 1.6\n"


def with_memory(tmp_path, kind, timing):
    """The board on the chip with a memory of another kind."""
    text = (SHIPPED / "ecp5_onchip.toml").read_text().replace('kind = "onchip"', f'kind = "{kind}"')
    file = tmp_path / "mine.toml"
    file.write_text(text + timing)
    return file


def test_sdr_memory_is_dram_with_one_transfer_a_period(tmp_path):
    memory = load_board(with_memory(tmp_path, "sdr", SDR)).memory
    timing = memory.timing
    assert (timing.burst_bytes, timing.burst_ticks, timing.bytes_per_ns) == (4, 2, 0.2)
    assert (timing.CWL, timing.tCCD_L, timing.tWTR_L, timing.tFAW) == (0, 2, 0, 8)
    assert (memory.name, memory.peak_bytes_per_ns(10.0)) == ("SDR", 0.2)


def test_both_directions_share_an_axi_port(tmp_path):
    memory = load_board(with_memory(tmp_path, "axi", AXI)).memory
    assert memory.timing == PortTiming(word_ns=2.5, latency_ns=200.0, ports=1)
    assert (memory.name, round(memory.peak_bytes_per_ns(10.0), 6)) == ("AXI", 1.6)


@pytest.mark.parametrize(
    ("kind", "timing", "key", "expected"),
    [
        ("sdr", SDR.replace("beats = 2\n", ""), "memory.timing.beats", "is missing; expected an integer"),
        ("sdr", SDR.replace("beats = 2", "beats = 3"), "memory.timing.beats", "power of two"),
        ("sdr", SDR.replace("beats = 2", "beats = 4"), "memory.word_bytes", "4 beats of 16 bits are 8 bytes"),
        ("sdr", SDR + "CWL = 2\n", "memory.timing.CWL", "is not a known key"),
        ("sdr", SDR.replace("tRFC = 7", "tRFC = 900"), "memory.timing.tREFI", "at least tRFC = 900"),
        ("axi", AXI.replace("1.6", "0"), "memory.timing.bytes_per_ns", "between 0.001 and 10000"),
        ("axi", "", "memory.timing", "is missing; expected a table"),
    ],
)
def test_wrong_memories_are_refused(tmp_path, kind, timing, key, expected):
    with pytest.raises(BoardError, match=expected) as caught:
        load_board(with_memory(tmp_path, kind, timing))
    assert caught.value.key == key


def test_a_table_of_another_speed_grade_is_refused(tmp_path):
    file = tmp_path / "mine.toml"
    text = (SHIPPED / "ulx3s.toml").read_text()
    file.write_text(text.replace('delays = "ecp5_6"', 'delays = "ecp5_8"'))
    with pytest.raises(BoardError, match=r"is of speed grade 8, not 6: choose .* of arria10, ") as caught:
        load_board(file)
    assert caught.value.key == "device.delays"
    file.write_text(text.replace('delays = "ecp5_6"', 'delays = "arria10"'))
    assert load_board(file).delay_model().family == "arria10", "a table of no grade is of every grade"


#: keys whose figures follow from those around them, or from the kind of device
PLAIN = {
    "bits",
    "multipliers",
    "banks",
    "bank_groups",
    "bus_bits",
    "row_bytes",
    "tRRD_L",
    "tWTR_L",
    "bytes",
    "word_bytes",
}


def test_every_figure_has_its_source():
    """Each figure has a comment in its line, or its table has one."""
    for name in known_boards():
        table = ""
        for line in (SHIPPED / f"{name}.toml").read_text().splitlines():
            key, figure, value = line.partition(" = ")
            if line.startswith("["):
                table = line
            elif figure and key[0] != "#" and value[0].isdigit() and key not in PLAIN:
                device = table.startswith("[device") and key in ("count", "logic_cells", "registers", "lutram_bits")
                assert "#" in line or device, (name, line)


@pytest.mark.parametrize("board", ["ulx3s", "orangecrab"])
def test_optional_keys_of_a_system(tmp_path, board):
    """Without them a board has what their defaults say; what the chip cannot hold is refused."""
    text = (SHIPPED / f"{board}.toml").read_text()
    head, soc = text.split("[soc]")
    optional = {*vars(load_board(board).soc)} - {"platform", "clock", "clock_mhz", "serial", "baud", "chip"}
    optional -= {"module", "load"} | ({"chip_clock"} if board == "ulx3s" else set())
    kept = [line for line in soc.splitlines() if line.partition("=")[0].strip() not in optional]
    file = tmp_path / f"{board}.toml"
    file.write_text("[soc]".join([head, "\n".join(kept)]))
    defaults = {one.name: one.default for one in fields(Soc) if one.name in optional}
    assert vars(load_board(file).soc).items() >= defaults.items()


@pytest.mark.parametrize(
    "board, old, new, message",
    [
        ("orangecrab", "tWR = 2 ", "tWR = 15", "is for DDR3 with a tWR of at most 14, not 15"),
        ("orangecrab", "termination_ohm = 0", "termination_ohm = 50", "must be one of 0, 40, 60, 120, not 50"),
        ("orangecrab", "masks_swapped", "chip_phase = 90\nmasks_swapped", "soc.chip_phase: is not a known key"),
        ("ulx3s", "chip_clock =", "# ", "soc.chip_clock: is missing; expected the pin of the clock of SDR SDRAM"),
        ("ecpix5", "192.168.1.50", "192.168.1.500", "must be an address like 192.168.1.50, not '192.168.1.500'"),
    ],
)
def test_systems_that_are_refused(tmp_path, board, old, new, message):
    text = (SHIPPED / f"{board}.toml").read_text()
    assert old in text
    file = tmp_path / f"{board}.toml"
    file.write_text(text.replace(old, new))
    with pytest.raises(BoardError, match=re.escape(message)):
        load_board(file)
