"""`sluice boards`: every board with its figures, and files of one's own."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.target.board import BOARDS, FLOWS, known_boards, load_board


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def boards(*arguments, code=0):
    result = CliRunner().invoke(main, ["boards", *arguments], prog_name="sluice", catch_exceptions=False)
    assert result.exit_code == code, result.stderr
    return result


def test_every_board_is_listed_with_its_figures():
    rows = {row["name"]: row for row in json.loads(boards("--json").stdout)}
    assert tuple(rows) == known_boards()
    assert rows["de5net"] == {
        "name": "de5net",
        "device": "5SGXEA7N2F45C2 (stratixv)",
        "memory": "2 x 2 GiB DDR, 25.6 GB/s; 4 x 8 MiB QDR, 8.8 GB/s",
        "clock": "240 MHz",
        "flow": "Intel Quartus",
        "delays": "stratixv, published",
    }
    assert rows["ulx3s"]["memory"] == "32 MiB SDR, 0.2 GB/s" and rows["ulx3s"]["delays"] == "ecp5_6, fitted"
    assert rows["ecp5_onchip"]["memory"] == "256 KiB on the chip, 0.6 GB/s"
    head, *lines = boards().stdout.splitlines()
    assert head.split() == ["name", "device", "memory", "clock", "flow", "delays"] and len(lines) == len(rows)
    for line, row in zip(lines, rows.values()):
        assert all(text in line for text in row.values())


def test_every_board_of_the_package_names_its_flow():
    assert {load_board(name).flow for name in known_boards()} <= set(FLOWS)


def test_a_file_is_checked():
    text = (BOARDS / "ecp5_onchip.toml").read_text()
    Path("mine.toml").write_text(text.replace('flow = "ecp5"\n', ""))
    assert "  not stated  " in boards("mine.toml").stdout.splitlines()[1]
    Path("mine.toml").write_text(text.replace('flow = "ecp5"', 'flow = "magic"'))
    told = boards("mine.toml", code=1).stderr
    assert (
        "mine.toml: board.flow: must be one of ecp5, gowin, nexus, quartus, vivado, not 'magic'" in told
        and "hint:" in told
    )
    assert "unknown board; known are a10pac" in boards("nothing", code=1).stderr
    assert "unknown board; did you mean de5net? Known are a10pac" in boards("de5nt", code=1).stderr
