"""`sluice board new`: a file that can be used at once, and the text of every board."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.target.board import known_boards, load_board, read_board
from hls.target.board_text import board_text
from hls.target.table import Table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def new(*arguments, answers="", code=0):
    command = ["board", "new", *arguments]
    result = CliRunner().invoke(main, command, input=answers, prog_name="sluice", catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("name", known_boards())
def test_the_text_of_a_board_is_that_board(name):
    board = load_board(name)
    text = board_text(board, lambda key: f"of {key}")
    assert read_board(Table(name, "", tomllib.loads(text))) == board
    assert "# of device.rams.count" in text


def test_answers_stand_in_the_file_and_other_figures_say_whose_they_are():
    answers = ["pynqz2", "Mine", "XC7Z010-1CLG400C", "1", "xc7_1", "125", "2", str(1 << 27), "16"]
    told = new("mine", answers="\n".join(answers) + "\n").stdout
    assert "replace the figures that are of pynqz2" in told and "sluice boards ./mine.toml" in told
    board, like = load_board("./mine.toml"), load_board("pynqz2")
    assert (board.name, board.description, board.device.part) == ("mine", "Mine", "XC7Z010-1CLG400C")
    assert (board.clock.kernel_mhz, len(board.memory.banks), board.memory.banks[0].bytes) == (125, 2, 1 << 27)
    assert board.memory.word_bytes == 16
    assert board.peak_bytes_per_ns == pytest.approx(2 * like.peak_bytes_per_ns), "two banks of the same rate"
    text = Path("mine.toml").read_text()
    assert "kernel_mhz = 125.0              # where is this from?" in text
    assert "count = 220                     # of pynqz2: check it" in text


def test_options_instead_of_answers():
    options = ["--like", "ulx3s", "--description", "Small", "--part", "LFE5U-25F-6BG256C", "--speed-grade", "-"]
    options += [
        "--delays",
        "ecp5_6",
        "--clock",
        "50",
        "--banks",
        "1",
        "--bank-bytes",
        str(1 << 23),
        "--word-bytes",
        "4",
    ]
    new("small", *options)
    board = load_board("./small.toml")
    assert (board.device.part, board.device.speed_grade, board.memory.bytes) == ("LFE5U-25F-6BG256C", "", 1 << 23)
    new("same", "--defaults")
    assert load_board("./same.toml").memory == load_board("ulx3s").memory


def test_what_cannot_be_made():
    told = new("wrong", "--defaults", "--word-bytes", "6", code=1).stderr
    assert "memory.word_bytes: must be a power of two, not 6" in told and not Path("wrong.toml").exists()
    told = new("wrong", "--defaults", "--delays", "ecp5_8", code=1).stderr
    assert "device.delays: is of speed grade 8, not 6" in told
    assert "a board cannot be called 'a b'" in new("a b", "--defaults", code=1).stderr
    Path("there.toml").write_text("mine")
    assert "there.toml is there already; nothing was written" in new("there", "--defaults", code=1).stderr
    assert Path("there.toml").read_text() == "mine"
    assert "Invalid value for '--like'" in new("x", "--like", "none", code=2).stderr
