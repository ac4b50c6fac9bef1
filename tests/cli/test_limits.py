"""Budgets of the command, and designs that do not fit their device."""

import json
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.limits import Limits

CHANNEL = """channel int c __attribute__((depth({depth})));
__kernel void p(int n) {{ for (int i = 0; i < n; i++) write_channel_intel(c, i); }}
__kernel void r(__global int *restrict a, int n) {{ for (int i = 0; i < n; i++) a[i] = read_channel_intel(c); }}
"""
#: more bits than the 2,560 block RAMs of de5net have, and less than any device
TOO_DEEP = CHANNEL.format(depth=3_000_000)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def sluice(text: str, *arguments: str, code: int):
    """Compile a text; what the command wrote."""
    Path("k.cl").write_text(text)
    result = CliRunner().invoke(
        main, ["compile", "k.cl", "-o", "out", *arguments], prog_name="sluice", catch_exceptions=False
    )
    assert result.exit_code == code, result.stderr
    return result


def test_a_channel_that_no_device_holds_is_an_error():
    told = sluice(CHANNEL.format(depth=2_000_000_000), code=1).stderr
    assert (
        "k.cl:1:13: error[E0801]: channel 'c' of depth 2,000,000,000 holds 64,000,000,000 bits; no device has more than "
        "1,073,741,824" in told
    )
    assert not Path("out").exists()


def test_channels_count_together():
    text = "".join(
        CHANNEL.format(depth=20_000_000)
        .replace(" c", f" c{k}")
        .replace("(c,", f"(c{k},")
        .replace("(c)", f"(c{k})")
        .replace("void p", f"void p{k}")
        .replace("void r", f"void r{k}")
        for k in range(2)
    )
    told = sluice(text, code=1).stderr
    assert (
        "channel 'c1' of depth 20,000,000 holds 640,000,000 bits, and 640,000,000 those before it; no device has more"
        in told
    )


def test_a_design_that_does_not_fit_is_warned_of():
    """The warning names the resource and what takes most of it, and stands in the reports."""
    told = sluice(TOO_DEEP, code=0).stderr
    assert re.search(
        r"warning\[W0803\]: the design needs [\d,]+ block RAMs, but the device of board de5net has 2,560", told
    )
    assert (
        "note: channels, interconnect, ports and control needs" in told
        and "k.cl:1:13: note: channel 'c' holds 96,000,000 bits" in told
    )
    assert "hint: make channels and arrays smaller" in told and "choose a larger board" in told
    assert "block RAMs, but the device of board de5net has 2,560" in Path("out/report.txt").read_text()
    messages = json.loads(Path("out/report.json").read_text())["messages"]
    assert [one["severity"] for one in messages] == ["warning"]


def test_strict_fit_makes_it_an_error():
    told = sluice(TOO_DEEP, "--strict-fit", code=1).stderr
    assert "error[W0803]: the design needs" in told and not Path("out").exists()
    sluice(CHANNEL.format(depth=30), "--strict-fit", code=0)


def test_every_resource_is_held_against_the_device():
    board = Path(__file__).parents[2] / "boards/de5net.toml"
    text = board.read_text()
    for field, name in (("logic_cells", "ALMs"), ("registers", "registers")):
        small = re.sub(rf"^({field}\s*=\s*)[\d_]+", r"\g<1>100", text, flags=re.MULTILINE)
        assert small != text
        Path("small.toml").write_text(small)
        told = sluice(
            "__kernel void k(__global int *restrict a) { a[0] = a[1] / a[2]; }", "--board", "small.toml", code=0
        ).stderr
        assert re.search(
            rf"k.cl:1:15: warning\[W0803\]: the design needs [\d,]+ {name}, but the device of board .* has 100", told
        ), told
        assert "note: kernel k needs" in told


def test_another_limit():
    text = "int f(int x) { return x * x; } __kernel void k(__global int *restrict a) { a[0] = f(a[1]); }"
    assert "kernel k becomes" in sluice(text, "--limit", "operations=5", code=1).stderr
    assert "accesses global memory at 2 sites" in sluice(text, "--limit", "accesses=1", code=1).stderr
    sluice(CHANNEL.format(depth=40), "--limit", "channel-bits=1280", code=0)
    assert (
        "no device has more than 1,279"
        in sluice(CHANNEL.format(depth=40), "--limit", "channel-bits=1279", code=1).stderr
    )


@pytest.mark.parametrize(
    "limit", ["operations", "operations=0", "operations=-1", "operations=x", "nothing=1", "=1", ""]
)
def test_a_limit_is_a_name_and_a_number(limit):
    assert ", ".join(Limits.names()) in sluice("", "--limit", limit, code=2).stderr


def test_the_time_limit():
    began = time.monotonic()
    text = (
        "__kernel void k(__global int *restrict a, int n) { int x = n;\n"
        + "".join(f"x = x * (n + {k}) + {k};\n" for k in range(1200))
        + "a[0] = x; }"
    )
    told = sluice(text, "--time-limit", "0.5", code=1).stderr
    assert "error[E0802]: this takes longer than the 0.5 s of --time-limit" in told and not Path("out").exists()
    assert time.monotonic() - began < 60
