"""I/O channels: streams of the board that the host program feeds and drains, under stalls."""

from pathlib import Path

import numpy as np
import pytest

from hls.diag import CompileError
from hls.driver import compile
from hls.target.board import BoardError, load_board
from sim import cl

SOURCE = """
struct word { uint low; uint high; };
channel struct word from_wire __attribute__((depth(4))) __attribute__((io("rx")));
channel uint to_wire __attribute__((io("tx")));
// counts the words of each packet, whose last word has the highest bit set
__attribute__((max_global_work_dim(0))) __attribute__((autorun))
__kernel void parser(void) {
    uint length = 0, sum = 0;
    while (1) {
        struct word w = read_channel_intel(from_wire);
        length++;
        sum += w.low;
        if (w.high >> 31) {
            write_channel_intel(to_wire, sum * 16 + length);
            length = sum = 0;
        }
    }
}
channel uint seen;
__kernel void idle(__global uint *o) { o[0] = 1; }
"""
STREAMS = """
[[stream]]
name = "rx"
direction = "in"
bits = 64

[[stream]]
name = "tx"
direction = "out"
bits = 32
"""


@pytest.fixture
def board(tmp_path) -> Path:
    path = tmp_path / "networked.toml"
    text = (Path(__file__).resolve().parents[3] / "boards/de5net.toml").read_text()
    path.write_text(text + STREAMS)
    return path


def packets(count: int) -> tuple[np.ndarray, list[int]]:
    """Words of packets of random length, and what the parser says of each."""
    rng, words, said = np.random.default_rng(5), [], []
    for _ in range(count):
        low = rng.integers(0, 1000, rng.integers(1, 9))
        high = rng.integers(0, 1 << 31, low.size)
        high[-1] |= 1 << 31
        words += [int(lo) | int(hi) << 32 for lo, hi in zip(low, high)]
        said.append(int(low.sum()) * 16 + low.size)
    return np.array(words, np.uint64), said


@pytest.mark.verilator
@pytest.mark.parametrize("seed", [None, 5])
def test_packets_pass(board, seed, monkeypatch):
    if seed:
        monkeypatch.setenv("SLUICE_STALL_SEED", str(seed))
    ctx = cl.create_some_context(board=str(board))
    program = cl.Program(ctx, SOURCE).build()
    words, said = packets(60)
    out = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 4)
    queue = cl.CommandQueue(ctx)
    program.stream("rx").feed(words[:100])
    program.idle(queue, (1,), None, out)
    program.stream("rx").feed(words[100:])
    got = []
    for _ in range(100):  # simulated time passes while a kernel runs
        program.idle(queue, (1,), None, out)
        got += program.stream("tx").take(np.uint32).tolist()
    assert got == said
    with pytest.raises(cl.LogicError, match="rx is read by the kernels"):
        program.stream("rx").take()
    with pytest.raises(cl.LogicError, match="tx is written by the kernels"):
        program.stream("tx").feed(words)
    with pytest.raises(cl.LogicError, match="values of 8 bytes; 3 bytes"):
        program.stream("rx").feed(b"abc")
    with pytest.raises(cl.LogicError, match="no stream 'other' of the board; it has rx, tx"):
        program.stream("other")
    with pytest.raises(cl.LogicError, match="autorun"):
        cl.Kernel(program, "parser")


def test_on_the_emulator(board):
    program = cl.Program(cl.create_some_context(board=str(board), device="emulator"), SOURCE).build()
    words, said = packets(60)
    got = []
    for part in (words[:7], words[7:200], words[200:]):
        program.stream("rx").feed(part)
        got += program.stream("tx").take(np.uint32).tolist()
    assert got == said
    assert program.stream("tx").take().size == 0
    with pytest.raises(cl.LogicError, match="tx is written by the kernels"):
        program.stream("tx").feed(words)
    with pytest.raises(cl.LogicError, match="no stream 'other' of the board; it has rx, tx"):
        program.stream("other")


def test_the_emulator_refuses_what_fits_no_stream(board):
    program = cl.Program(
        cl.create_some_context(board=str(board), device="emulator"), SOURCE.replace('io("rx")', 'io("eth")')
    )
    with pytest.raises(cl.RuntimeError, match="has no stream 'eth' for channel 'from_wire'"):
        program.build()


READ = "__kernel void k(__global int *o) {{ o[0] = read_channel_intel({}); }}"
WRITE = "__kernel void k(int x) {{ write_channel_intel({}, x); }}"


@pytest.mark.parametrize(
    "declared, kernel, message",
    [
        (
            'channel int c __attribute__((io("eth")));',
            READ.format("c"),
            "board Terasic DE5-Net has no stream 'eth' for channel 'c'",
        ),
        (
            'channel int c __attribute__((io("rx")));',
            READ.format("c"),
            "channel 'c' passes 32 bits, the board's stream 'rx' 64",
        ),
        (
            'channel int c[2] __attribute__((io("tx")));',
            WRITE.format("c[0]"),
            "the array 'c' cannot be bound to the one stream 'tx'",
        ),
        (
            'channel int c __attribute__((io("tx")));',
            READ.format("c"),
            "channel 'c' is read by kernel k, and by the board's stream tx",
        ),
    ],
)
def test_channels_that_fit_no_stream(board, declared, kernel, message):
    with pytest.raises(CompileError) as error:
        compile(declared + "\n" + kernel, board)
    assert error.value.diagnostics[0].message.replace(load_board(board).name, "Terasic DE5-Net") == message
    assert error.value.diagnostics[0].span and error.value.diagnostics[0].hint


@pytest.mark.parametrize(
    "change, key",
    [
        (('direction = "in"', 'direction = "both"'), "stream[0].direction"),
        (("\nbits = 64", "\nbits = 63"), "stream[0].bits"),
        (('name = "tx"', 'name = "rx"'), "stream[3].name"),
        (("\nbits = 32", "\nbits = 32\nrate = 1"), "stream[3].rate"),
    ],
)
def test_wrong_board_files_are_refused(board, change, key):
    board.write_text(board.read_text().replace(*change))
    with pytest.raises(BoardError) as error:
        load_board(board)
    assert error.value.key == key
